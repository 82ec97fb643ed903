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

/// The result of a change of keys.
public struct RekeySummary: Sendable, Hashable {
  /// How many parts of the store were sealed with the new key.
  public package(set) var resealed = 0
  /// How many parts could not be opened. Until none is left, the old keys are kept.
  public package(set) var left = 0
  /// How many of those may open with other keys, or with a later version: a removal of damaged parts leaves them.
  public package(set) var kept = 0

  package init(resealed: Int = 0, left: Int = 0, kept: Int = 0) {
    self.resealed = resealed
    self.left = left
    self.kept = kept
  }

  /// Counts a part that could not be opened.
  package mutating func leave(_ error: SealError) {
    left += 1
    if error.problem(isManifest: false).1 == .none { kept += 1 }
  }

  package static func += (sum: inout RekeySummary, part: RekeySummary) {
    sum.resealed += part.resealed
    sum.left += part.left
    sum.kept += part.kept
  }
}
