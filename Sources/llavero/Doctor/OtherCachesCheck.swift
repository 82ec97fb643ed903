import GLibSupport
import MSALExtensionsStore
import SecretService
import TokenCache

/// The token caches of other programs, and what their faults left behind: what `llavero sources` shows.
struct SourcesCheck: Check {
  static let name = "sources"

  func examine(_ patient: Patient) async -> [Finding] {
    let client = patient.options.connection
    var findings: [Finding] = []
    // Several caches may share a lock file.
    var known: Set<PeerFinding> = []
    var isKeyringOutOfReach = false
    for peer in PeerRegistry(environment: patient.environment).caches {
      // A problem with one item is a problem with all.
      if isKeyringOutOfReach && peer.file == nil { continue }
      let store = MSALExtensionsCacheStore(
        peer, collection: patient.options.collection, prompt: patient.options.prompt, timeout: .seconds(10),
        client: client)
      do throws(CacheError) {
        findings += try await store.inspect().findings.filter { known.insert($0).inserted }
          .map { Self.finding($0, of: peer, patient) }
      } catch {
        if peer.file == nil {
          // The checks of the keyring say why.
          isKeyringOutOfReach = true
        } else {
          findings.append(.warning(error.message, advice: error.advice))
        }
      }
    }
    if !findings.isEmpty { return findings }
    return [
      isKeyringOutOfReach
        ? .ok("No file has tokens in clear. What other programs keep in the keyring could not be seen.")
        : .ok("No cache of another program has tokens in clear or other faults.")
    ]
  }

  private static func finding(_ finding: PeerFinding, of peer: PeerCache, _ patient: Patient) -> Finding {
    let message = finding.path == nil ? "\(peer.name): \(finding.detail)" : finding.detail
    switch finding.kind {
    case .plaintext:
      return .warning(message, advice: "Take them in: " + patient.command("adopt", peer.name))
    case .readableByOthers: return .mendable(.problem, message) { try await finding.mend() }
    case .staleLock: return .mendable(.warning, message) { try await finding.mend() }
    case .orphanedRefreshTokens:
      return .warning(
        message,
        advice: "See what they are: " + patient.command("import", "--from", peer.name, "--dry-run"))
    case .duplicates, .copies: return .warning(message, advice: "They do no harm; \(peer.users) wrote them.")
    case .damaged: return .warning(message, advice: "Sign in again with \(peer.users).")
    }
  }
}

extension PeerFinding {
  /// Puts it right, on a thread that may wait for another program's lock.
  func mend() async throws(CacheError) {
    try await BlockingQueue(label: "llavero.mend").run(
      timeout: .seconds(5), onCancel: CacheError(.cancelled, "It was cancelled."),
      onTimeout: CacheError(.timedOut, "Another program holds the lock.")
    ) { (cancellable) throws(CacheError) in try mend(cancellable) }
  }
}
