public import TokenCache

/// What became of a plaintext cache that a group took in.
public struct Adoption: Sendable, Hashable {
  /// What the group got.
  public let summary: ImportSummary
  /// Whether the tokens are gone from the file.
  public let isRemoved: Bool
}

/// Why a plaintext cache was not adopted. Its file is as it was.
public enum AdoptionError: Error, Sendable {
  /// There are no tokens in it.
  case empty
  /// It cannot be read, or written over.
  case peer(CacheError)
  /// The group cannot be read or written.
  case group(CacheError)
  /// So many records could not be read back from the group.
  case notStored(Int)
  /// Another program writes to it all the time.
  case inUse
}

extension MSALExtensionsCacheStore {
  /// Moves a plaintext cache into a group: imports it, reads it back, and then, when that was agreed, writes over the
  /// file and removes it. A file that also is the signal of a keyring item stays, empty.
  ///
  /// - Parameters:
  ///   - cache: The group that takes it in.
  ///   - mayRemove: Asked, once the group holds all of the file, whether the file may go; asked again when the program
  ///     wrote to it meanwhile. It is told what was imported.
  /// - Returns: What became of it.
  /// - Throws: ``AdoptionError``; what was imported before stays in the group.
  public func adopt(
    into cache: TokenCacheAccessor, mayRemove: (ImportSummary) async -> Bool
  ) async throws(AdoptionError) -> Adoption {
    var total = ImportSummary()
    // Once more when the program writes to its file meanwhile.
    for _ in 0..<3 {
      let document = try await calling(AdoptionError.peer) { () async throws(CacheError) in
        try await contentsUnderLock().document
      }
      guard document.recordCount > 0 else {
        // The program has emptied its file in the meantime.
        if total != ImportSummary() { return Adoption(summary: total, isRemoved: false) }
        throw .empty
      }
      let summary = try await calling(AdoptionError.group) { () async throws(CacheError) in
        try await cache.import(document)
      }
      total = ImportSummary(saved: total.saved + summary.saved, kept: summary.kept)
      var stored = try await calling(AdoptionError.group) { () async throws(CacheError) in
        try await cache.snapshot().document
      }
      let missing = stored.merge(document, in: cache.clouds).saved
      guard missing == 0 else { throw .notStored(missing) }
      guard await mayRemove(total) else { return Adoption(summary: total, isRemoved: false) }
      let isRemoved = try await calling(AdoptionError.peer) { () async throws(CacheError) in
        try await discardPlaintext(holding: document)
      }
      if isRemoved { return Adoption(summary: total, isRemoved: true) }
    }
    throw .inUse
  }
}

/// Calls a store; what it throws becomes an error of the adoption.
private func calling<T>(
  _ failure: (CacheError) -> AdoptionError, _ body: () async throws(CacheError) -> T
) async throws(AdoptionError) -> T {
  do throws(CacheError) {
    return try await body()
  } catch {
    throw failure(error)
  }
}
