package import TokenCache

/// A store that seals its contents with a key of the user.
package protocol SealedStore: CacheStore {
  /// Unseals the keys, as every call does that needs them.
  ///
  /// - Parameter makingStore: Whether to make the store if it does not exist, as the first write does.
  /// - Returns: Whether the store exists.
  /// - Throws: ``CacheError`` when the key cannot be read or does not open the store, or the store cannot be made.
  @discardableResult
  func open(makingStore: Bool) async throws(CacheError) -> Bool

  /// Changes the key of the store, or its source, and seals every part of every group again.
  ///
  /// - Throws: ``CacheError`` when the store cannot be opened or written.
  func rekey(to source: KeySource?) async throws(CacheError) -> RekeySummary
}
