extension TokenCacheAccessor {
  /// Reads the private key of the group's bound tokens, as it was saved; `nil` if the group has no key.
  package func popKey() async throws(CacheError) -> String? {
    try await contents(.some([commonShard]))[commonShard].popKey
  }

  /// Saves a key for bound tokens (PKCS #8 in base64), unless the group has a usable one by now, and returns the group's key.
  /// Tokens that were bound to a replaced key are no longer found.
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

/// The private key of a group's bound access tokens: a section of Llavero's own, specified in `CacheFormat.md`. It
/// belongs to no account and never leaves the group.
extension CacheDocument {
  private static let popKeySection = "PopKey"
  /// The algorithm of its signatures: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3).
  private static let popKeyAlgorithm = "rs256"

  /// The key as it was saved, valid or not: PKCS #8 in base64.
  var popKey: String? {
    get {
      otherSections[Self.popKeySection]?.objectValue?[Self.popKeyAlgorithm]?.objectValue?["secret"]?
        .stringValue.nonBlank
    }
    set {
      var keys = otherSections[Self.popKeySection]?.objectValue ?? [:]
      keys[Self.popKeyAlgorithm] = newValue.map { .object(["secret": .string($0)]) }
      otherSections[Self.popKeySection] = keys.isEmpty ? nil : .object(keys)
    }
  }

  package var hasPopKeys: Bool { otherSections[Self.popKeySection] != nil }

  /// The document without private keys, for import and export.
  var withoutPopKeys: CacheDocument {
    var document = self
    document.otherSections[Self.popKeySection] = nil
    return document
  }
}
