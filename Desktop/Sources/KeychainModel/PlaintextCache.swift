import Configuration
import Localization
import MSALExtensionsStore
public import TokenCache

/// A plaintext cache of another program.
public struct PlaintextCache: Sendable, Hashable, Identifiable {
  let peer: PeerCache
  public let path: String
  /// `nil` where it cannot be read.
  public let recordCount: Int?
  /// What else is wrong with it, in sentences.
  public let findings: [String]

  init?(_ report: PeerReport) {
    guard let path = report.peer.file else { return nil }
    (peer, self.path, recordCount) = (report.peer, printable(path), report.recordCount)
    findings = report.findings.filter { $0.kind != .plaintext }.map { printable($0.detail) }
  }

  public var id: String { peer.name }
  /// The programs that use it.
  public var users: String { peer.users }
  /// What they do when the file is gone.
  public var afterRemoval: String? { peer.afterRemoval.map(translated) }
  /// Whether the file stays, empty, since it is the signal of an item in the keyring.
  public var isOnlyEmptied: Bool { peer.isSignalOfAnItem }
}

extension Keychain {
  /// The plaintext caches of other programs.
  @concurrent public func plaintextCaches() async -> [PlaintextCache] {
    var caches: [PlaintextCache] = []
    for peer in PeerRegistry(environment: environment).caches {
      guard peer.file != nil else { continue }
      let report = try? await MSALExtensionsCacheStore(peer).inspect()
      guard let report, report.recordCount.map({ $0 > 0 }) ?? true else { continue }
      if let cache = PlaintextCache(report) { caches.append(cache) }
    }
    return caches
  }

  /// The plaintext cache in a file, of whatever program.
  ///
  /// - Throws: ``Trouble`` where it has no tokens.
  @concurrent public func plaintextCache(at path: String) async throws(Trouble) -> PlaintextCache {
    let known = PeerRegistry(environment: environment).caches.first { $0.file == path }
    let report = try await calling { () async throws(CacheError) in
      try await MSALExtensionsCacheStore(known ?? .file(path)).inspect()
    }
    guard let cache = PlaintextCache(report), let count = cache.recordCount, count > 0 else {
      let reason = report.findings.first { $0.kind == .damaged }?.detail ?? localized("It has no tokens.")
      throw Trouble(
        localized("Not Imported"), "\(printable(path)): \(printable(translated(reason)))",
        advice: localized(
          "Choose a file in which an MSAL library keeps its cache, such as ~/.azure/msal_token_cache.json."))
    }
    return cache
  }

  /// Moves a plaintext cache into a group.
  ///
  /// - Parameters:
  ///   - cache: The cache.
  ///   - group: The group that takes it in.
  ///   - isRemoved: Whether the file is written over and removed when the group holds all of it.
  /// - Returns: How many records were taken in, and whether the file is gone.
  /// - Throws: ``Trouble``; the file is as it was then.
  @concurrent public func adopt(
    _ cache: PlaintextCache, into group: KeychainGroup, removing isRemoved: Bool
  ) async throws(Trouble) -> (saved: Int, isRemoved: Bool) {
    do throws(AdoptionError) {
      let adoption = try await MSALExtensionsCacheStore(cache.peer, group: group)
        .adopt(into: self.cache(of: group)) { _ in isRemoved }
      return (adoption.summary.saved, adoption.isRemoved)
    } catch {
      switch error {
      case .empty: throw .gone
      case .peer(let error), .group(let error): throw Trouble(error)
      case .notStored(let count):
        throw Trouble(
          localized("Not Moved"),
          localized(
            "%d record of %s could not be read back.", "%d records of %s could not be read back.",
            count: count, count, cache.path), advice: localized("The file was left as it is. Try again."))
      case .inUse:
        throw Trouble(
          localized("The File Is in Use"),
          localized("%s is being written to, so it was left as it is.", cache.path),
          advice: localized("Close the program that writes to it, and try again."))
      }
    }
  }
}
