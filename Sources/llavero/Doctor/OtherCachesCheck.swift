import MSALExtensionsStore
import TokenCache

/// Checks the token caches of other programs for plaintext and for what their faults left behind.
struct OtherCachesCheck: Check {
  static let name = "sources"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    let caches = await OtherCaches.inspect(setup.options, timeout: .seconds(10))
    let findings =
      caches.entries.flatMap { entry in
        entry.findings.map { Self.finding($0, of: entry.report.peer, setup) }
      } + caches.unreadable.map { .warning($0.error.message, advice: $0.error.advice) }
    if !findings.isEmpty { return findings }
    // The checks of the keyring say why it cannot be read.
    return [
      .ok(
        caches.keyringError == nil
          ? "No cache of another program has plaintext tokens or other faults."
          : "No file has plaintext tokens. Caches of other programs in the keyring could not be read.")
    ]
  }

  private static func finding(
    _ finding: PeerFinding, of peer: PeerCache, _ setup: CheckedSetup
  ) -> Finding {
    let message = finding.path == nil ? "\(peer.name): \(finding.detail)" : finding.detail
    switch finding.kind {
    case .plaintext:
      return .warning(message, advice: "Move them: " + setup.command("adopt", peer.name))
    case .readableByOthers: return .fixable(.problem, message) { try await finding.fix() }
    case .staleLock: return .fixable(.warning, message) { try await finding.fix() }
    case .orphanedRefreshTokens:
      return .warning(message, advice: "List them: " + setup.command("import", peer.name, "--dry-run"))
    case .duplicates, .copies: return .warning(message, advice: "They do no harm; \(peer.users) wrote them.")
    case .damaged: return .warning(message, advice: "Sign in again with \(peer.users).")
    }
  }
}
