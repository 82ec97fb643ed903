extension TokenCacheAccessor {
  /// The private key that the group's bound tokens belong to, as it was saved; `nil` where there is none.
  ///
  /// - Throws: What the store throws.
  package func popKey() async throws(CacheError) -> String? {
    let document =
      if let known = rememberedDocument(commonShard) {
        known
      } else {
        try await contents(.some([commonShard]))[commonShard]
      }
    return document.popKey
  }

  /// Saves a key for bound tokens, unless the group has one by now that can be used.
  ///
  /// - Parameters:
  ///   - key: The key, PKCS #8 in base64.
  ///   - isUsable: Whether a key that is there does; one that does not is replaced, and tokens that were bound to it are
  ///     found no more.
  /// - Returns: The key that the group has.
  /// - Throws: What the store throws.
  package func savePopKey(
    _ key: String, unless isUsable: @escaping @Sendable (String) -> Bool
  ) async throws(CacheError) -> String {
    let common = commonShard
    return try await store.update([common], in: group) { contents in
      if let present = contents[common].popKey, isUsable(present) { return present }
      contents[common].popKey = key
      return key
    }
  }
}
