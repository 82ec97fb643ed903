package import GLibSupport
import Glibc
public import TokenCache

/// A problem that faults of other programs left behind.
public struct PeerFinding: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable {
    /// Plaintext tokens in a file.
    case plaintext
    /// Plaintext secrets in a file that is no token cache of MSAL's, so that they cannot be moved.
    case plaintextSecrets = "plaintext_secrets"
    /// A file of plaintext, readable or damaged, with permissions that let others read it.
    case readableByOthers = "readable_by_others"
    /// A lock file whose holder has ended. Python and Node wait for it for ever.
    case staleLock = "stale_lock"
    /// Refresh tokens without an account: no program shows them, but they are valid.
    case orphanedRefreshTokens = "orphaned_refresh_tokens"
    /// Records for the same thing under several keys.
    case duplicates
    /// Several items with the same attributes.
    case copies
    /// The contents are not a cache, or too large for one. They may have tokens all the same.
    case damaged
  }

  public let kind: Kind
  /// The file concerned.
  public let path: String?
  /// One sentence without secrets or personal data.
  public let detail: String

  /// Removes a stale lock file, or closes a file to others.
  ///
  /// - Throws: ``CacheError``; ``CacheError/Code/timedOut`` if another program took the lock meanwhile.
  package func mend(_ cancellable: Cancellable) throws(CacheError) {
    guard let path else { return }
    switch kind {
    case .staleLock:
      // Taking the lock takes it over from its dead holder, and releasing it removes the file.
      try PeerLock([path], users: "another program", timeout: .zero, cancellable).release()
    case .readableByOthers:
      guard unsafe chmod(path, 0o600) == 0 else { throw FileContents.failure("closed to others", path) }
    case .plaintext, .plaintextSecrets, .orphanedRefreshTokens, .duplicates, .copies, .damaged: break
    }
  }
}

/// A report of another program's cache.
public struct PeerReport: Sendable {
  public let peer: PeerCache
  /// The contents; `nil` if they cannot be read.
  package let contents: PeerContents?
  public let findings: [PeerFinding]

  /// How many records it has; `nil` if it cannot be read.
  public var recordCount: Int? { contents?.document.recordCount }
}

extension PeerReport {
  /// Inspects a file whose contents are not read; `nil` if there is none, or only an empty list in it.
  package init?(ofSecrets peer: PeerCache) {
    guard let path = peer.file, FileContents.hasMore(than: 4, path) else { return nil }
    let secrets = PeerFinding(
      kind: .plaintextSecrets, path: path, detail: "Plaintext secrets of \(peer.users) in \(path).")
    self.init(peer: peer, contents: nil, findings: [secrets] + PeerFinding.ofAccess(to: path))
  }
}

extension MSALExtensionsCacheStore {
  /// Inspects the cache and its files without a lock and changes nothing. A damaged cache is a finding, not an error.
  public func inspect() async throws(CacheError) -> PeerReport {
    var findings = peer.lockFiles.compactMap(PeerFinding.init(staleLock:))
    let access = PeerFinding.ofAccess(to: peer.file)
    do throws(CacheError) {
      let contents = try await contents()
      if let file = peer.file, contents.document.recordCount > 0 {
        findings.append(PeerFinding(kind: .plaintext, path: file, detail: "Plaintext tokens in \(file)."))
      }
      if contents.copies > 0 { findings += access }
      findings += PeerFinding.findings(in: contents)
      return PeerReport(peer: peer, contents: contents, findings: findings)
    } catch  where [.damaged, .tooLarge].contains(error.code) {
      findings += [PeerFinding(kind: .damaged, path: peer.file, detail: error.message)] + access
      return PeerReport(peer: peer, contents: nil, findings: findings)
    }
  }
}

extension PeerFinding {
  fileprivate init?(staleLock path: String) {
    guard let holder = PeerLock.deadHolder(of: path) else { return nil }
    self.init(
      kind: .staleLock, path: path,
      detail: "\(path) was left behind by \(holder.description), which no longer runs.")
  }

  fileprivate static func ofAccess(to path: String?) -> [PeerFinding] {
    guard let path, FileContents.isReadableByOthers(path) else { return [] }
    return [
      PeerFinding(kind: .readableByOthers, path: path, detail: "Its permissions let others read \(path).")
    ]
  }

  fileprivate static func findings(in contents: PeerContents) -> [PeerFinding] {
    let orphans = contents.document.orphanedRefreshTokens.count
    let duplicates = contents.document.duplicateCount(in: .known)
    let all: [(Kind, Int, String)] = [
      (.copies, contents.copies - 1, "surplus items hold the cache; the next write merges them."),
      (.orphanedRefreshTokens, orphans, "refresh tokens have no account, and may still be good."),
      (.duplicates, duplicates, "records are duplicates under other keys."),
    ]
    return all.filter { $0.1 > 0 }.map { PeerFinding(kind: $0.0, path: nil, detail: "\($0.1) \($0.2)") }
  }
}
