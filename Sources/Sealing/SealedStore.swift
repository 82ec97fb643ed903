package import TokenCache

/// A store that seals what it keeps with a key of the person's.
package protocol SealedStore: CacheStore {
  /// Unseals the keys, as every call does that needs them.
  ///
  /// - Parameter makingStore: Whether to make the store where there is none, as the first write would.
  /// - Returns: Whether there is a store.
  /// - Throws: ``CacheError`` when the key is out of reach or does not open the store, or the store cannot be made.
  @discardableResult
  func open(makingStore: Bool) async throws(CacheError) -> Bool

  /// Gives the store a new key, or the same in a new place, and seals everything of every group again.
  ///
  /// - Throws: ``CacheError`` when the store cannot be opened or written.
  func rekey(to source: KeySource?) async throws(CacheError) -> RekeySummary
}
