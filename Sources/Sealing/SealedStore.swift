import FoundationEssentials
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

  /// Seals a part that has an older key again with the current one, as the same version. Counts one that cannot be opened.
  ///
  /// - Returns: `nil` for such a part, and for one that has the current key already.
  package mutating func seal(
    _ part: Result<[UInt8], SealError>, as identity: SealedFormat.Identity, with keys: DataKeys
  ) -> [UInt8]? {
    do throws(SealError) {
      let sealed = try part.get()
      guard SealedFormat.keyID(of: sealed) != keys.current.id else { return nil }
      var opened = try SealedFormat.open(sealed, as: identity, with: keys)
      defer { opened.wipe() }
      return unsafe opened.contents.withUnsafeBytes {
        unsafe SealedFormat.seal($0, as: identity, sequence: opened.sequence, with: keys.current)
      }
    } catch {
      left += 1
      if error.problem(isManifest: false).1 == .none { kept += 1 }
      return nil
    }
  }
}
