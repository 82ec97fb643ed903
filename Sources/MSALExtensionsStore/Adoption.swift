public import FoundationEssentials
import GLibSupport
public import TokenCache

/// The result of adopting a plaintext cache into a group.
public struct Adoption: Sendable, Hashable {
  /// What was imported into the group.
  public let summary: ImportSummary
  /// Whether the tokens were removed from the file.
  public let isRemoved: Bool
}

/// Why a plaintext cache was not adopted. Its file was not changed.
public enum AdoptionError: LocalizedError, Sendable {
  /// It has no tokens.
  case empty
  /// It cannot be read or overwritten.
  case peer(CacheError)
  /// The group cannot be read or written.
  case group(CacheError)
  /// This number of records could not be read back from the group.
  case notStored(Int)
  /// Another program keeps writing to it.
  case inUse

  public var errorDescription: String? {
    switch self {
    case .empty: "The plaintext cache has no tokens."
    case .peer(let error), .group(let error): error.description
    case .notStored(let count):
      "\(count) records of the plaintext cache could not be read back from the group. Try again."
    case .inUse: "The plaintext cache keeps changing. Stop the program that writes to it, and try again."
    }
  }
}

extension MSALExtensionsCacheStore {
  /// Moves a plaintext cache into a group: imports it, reads it back, and then, with permission, overwrites and removes
  /// the file. A file that is also the signal of a keyring item stays, empty.
  ///
  /// - Parameters:
  ///   - cache: The group.
  ///   - mayRemove: Called with what was imported, when the group has all of the file, and again if the program wrote to it
  ///     meanwhile. Returns whether the file may be removed.
  /// - Returns: What was imported, and whether the file was removed.
  /// - Throws: ``AdoptionError``; what was imported before stays in the group.
  public func adopt(
    into cache: TokenCacheAccessor, mayRemove: (ImportSummary) async -> Bool
  ) async throws(AdoptionError) -> Adoption {
    var total = ImportSummary()
    // Again if the program writes to its file meanwhile.
    for _ in 0..<3 {
      let document = try await calling(AdoptionError.peer, await contentsUnderLock().document)
      guard document.recordCount > 0 else {
        // The program has emptied its file in the meantime.
        if total != ImportSummary() { return Adoption(summary: total, isRemoved: false) }
        throw .empty
      }
      var (summary, stored) = try await calling(
        AdoptionError.group, (await cache.import(document), await cache.snapshot().document))
      total = ImportSummary(saved: total.saved + summary.saved, kept: summary.kept)
      let missing = stored.merge(document, in: cache.clouds).saved
      guard missing == 0 else { throw .notStored(missing) }
      guard await mayRemove(total) else { return Adoption(summary: total, isRemoved: false) }
      let isRemoved = try await calling(AdoptionError.peer, await discardPlaintext(holding: document))
      if isRemoved { return Adoption(summary: total, isRemoved: true) }
    }
    throw .inUse
  }
}

/// Calls a store and translates its error.
private func calling<T>(
  _ failure: (CacheError) -> AdoptionError, _ call: @autoclosure () async throws(CacheError) -> T
) async throws(AdoptionError) -> T {
  do {
    return try await call()
  } catch {
    throw failure(error)
  }
}
