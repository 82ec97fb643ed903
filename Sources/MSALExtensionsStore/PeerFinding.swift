package import GLibSupport
import Glibc
public import TokenCache

/// Something that other programs' faults left behind.
public struct PeerFinding: Sendable, Hashable {
  public enum Kind: String, Sendable, CaseIterable {
    /// Tokens in a file, in clear.
    case plaintext
    /// Such a file, with permissions that let others read it.
    case readableByOthers = "readable_by_others"
    /// A lock file whose holder is dead. Python and Node wait for it for ever.
    case staleLock = "stale_lock"
    /// Refresh tokens without an account: nobody sees them, and they are good.
    case orphanedRefreshTokens = "orphaned_refresh_tokens"
    /// Records for the same thing under several keys.
    case duplicates
    /// Several items with the same attributes.
    case copies
    /// What is there is no cache.
    case damaged
  }

  public let kind: Kind
  /// The file that it is about.
  public let path: String?
  /// One sentence without secrets or personal data.
  public let detail: String

  /// Whether ``mend(_:)`` does something about it: only what can lose nothing.
  package var isMendable: Bool { kind == .readableByOthers || kind == .staleLock }

  /// Removes a lock file that was left behind, or closes a file to others.
  ///
  /// - Throws: ``CacheError`` when that does not succeed; ``CacheError/Code/timedOut`` when somebody took the
  ///   lock meanwhile.
  package func mend(_ cancellable: Cancellable) throws(CacheError) {
    guard let path else { return }
    switch kind {
    case .staleLock:
      // Taking a lock takes it over from the dead, and letting go removes the file.
      try PeerLock([path], users: "another program", patience: .zero, cancellable).release()
    case .readableByOthers:
      guard unsafe chmod(path, 0o600) == 0 else { throw FileContents.failure("closed to others", path) }
    case .plaintext, .orphanedRefreshTokens, .duplicates, .copies, .damaged: break
    }
  }
}

/// What there is of another program's cache.
public struct PeerReport: Sendable {
  public let peer: PeerCache
  /// `nil` where it cannot be read.
  package let contents: PeerContents?
  public let findings: [PeerFinding]

  /// How many records it holds; `nil` where it cannot be read.
  public var recordCount: Int? { contents?.document.recordCount }

  /// Whether there is anything at all to tell.
  public var isPresent: Bool { contents.map { $0.copies > 0 } ?? true || !findings.isEmpty }
}

extension MSALExtensionsCacheStore {
  /// Looks at the cache and at the files around it; takes no lock and changes nothing.
  ///
  /// - Throws: What the keyring throws. A damaged cache is a finding.
  public func inspect() async throws(CacheError) -> PeerReport {
    var findings = peer.lockFiles.compactMap(PeerFinding.init(staleLock:))
    do throws(CacheError) {
      let contents = try await contents()
      if let file = peer.file, contents.document.recordCount > 0 {
        findings.append(
          PeerFinding(kind: .plaintext, path: file, detail: "Tokens stand in clear in \(file)."))
        if FileContents.isReadableByOthers(file) {
          findings.append(
            PeerFinding(
              kind: .readableByOthers, path: file, detail: "Its permissions let others read \(file)."))
        }
      }
      findings += PeerFinding.findings(in: contents)
      return PeerReport(peer: peer, contents: contents, findings: findings)
    } catch {
      guard error.code == .damaged else { throw error }
      findings.append(PeerFinding(kind: .damaged, path: peer.file, detail: error.message))
      return PeerReport(peer: peer, contents: nil, findings: findings)
    }
  }
}

extension PeerFinding {
  fileprivate init?(staleLock path: String) {
    guard let holder = PeerLock.deadHolder(of: path) else { return nil }
    self.init(
      kind: .staleLock, path: path,
      detail: "\(path) was left behind by \(holder.description), which is no more.")
  }

  fileprivate static func findings(in contents: PeerContents) -> [PeerFinding] {
    let orphans = contents.document.orphanedRefreshTokens.count
    let duplicates = contents.document.duplicateCount(in: .known)
    let all: [(Kind, Int, String)] = [
      (.copies, contents.copies - 1, "too many items hold the cache; the next write makes them one."),
      (.orphanedRefreshTokens, orphans, "refresh tokens have no account, and may still be good."),
      (.duplicates, duplicates, "records are there a second time, under other keys."),
    ]
    return all.filter { $0.1 > 0 }.map { PeerFinding(kind: $0.0, path: nil, detail: "\($0.1) \($0.2)") }
  }
}
