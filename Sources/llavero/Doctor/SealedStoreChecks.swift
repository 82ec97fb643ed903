import EncryptedFileStore
import FoundationEssentials
import GLibSupport
import Sealing
import SecretService
import TokenCache

/// Checks whether the Secret portal has a key for this program. It requests none.
struct PortalCheck: Check {
  static let name = "secret_portal"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    do throws(SecretPortalError) {
      try await BlockingQueue(label: "llavero.portal").run(
        timeout: .seconds(25), onCancel: .cancelled, onTimeout: .timedOut
      ) { (cancellable) throws(SecretPortalError) in
        try SecretPortal(busAddress: nil, cancellable).checkBackend(cancellable)
      }
    } catch {
      return [.problem(error.description, advice: error.advice)]
    }
    guard RuntimeDirectory(environment: setup.environment).isShared else {
      return [.ok("The Secret portal has a key for this application alone.")]
    }
    return [
      .warning(
        "This program is not in a sandbox: the Secret portal gives its key to your other programs, too.",
        advice: "Use --key portal in Flatpak or Snap. Other keys: \(KeyChoice.forms).")
    ]
  }
}

/// Checks the owner and the mode of the file store's directories.
struct SealedFilesCheck: Check {
  static let name = "sealed_files"

  let store: EncryptedFileCacheStore

  func examine(_ setup: CheckedSetup) async throws -> [Finding] {
    let root = try store.path()
    guard FileStatus(root) != nil else {
      let none = Finding.ok("There is no file store in \(root) yet; the first write makes it.")
      return [sharing(try store.sharing(), root) ?? none]
    }
    let groups = try store.path(of: nil)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: groups)) ?? []
    let directories = [root, groups] + names.sorted().map { "\(groups)/\($0)" }
    let findings = (directories + directories.map { "\($0)/lock" }).compactMap {
      Finding.ofAccess(to: $0, advice: "The store does not use it. Find out which program made it.")
    }
    let shared = sharing(try store.sharing(), root)
    if let shared { return findings + [shared] }
    return findings.isEmpty ? [.ok("The file store in \(root) is closed to others.")] : findings
  }

  /// Returns a finding about a network file system.
  private func sharing(_ sharing: FileSharing, _ root: String) -> Finding? {
    let advice = "Use a directory of this machine: export XDG_DATA_HOME=…"
    return switch sharing {
    case .machine: nil
    case .network(let name):
      .warning(
        "Other machines may use \(root) (\(name)): nothing is cached, and locks are the file system's.",
        advice: advice)
    case .networkWithoutLocks(let name):
      .problem(
        "Other machines may use \(root) (\(name)), and locks may not reach them: the store is read-only.",
        advice: advice)
    }
  }
}

/// Checks whether the key opens the file or etcd store. On a terminal it asks for a passphrase.
struct SealedKeyCheck: Check {
  static let name = "store_key"

  let store: any SealedStore

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    do throws(CacheError) {
      return try await store.open(makingStore: false) ? [.ok("The key opens the store.")] : []
    } catch {
      guard error.code == .locked else { return [.problem(error)] }
      return [.warning("\(error.message) The store's contents were not checked.", advice: error.toolAdvice)]
    }
  }
}
