import EncryptedFileStore
import FoundationEssentials
import GLibSupport
import TokenCache

/// The directories of the file store, and whose they are.
struct SealedFilesCheck: Check {
  static let name = "sealed_files"

  let store: EncryptedFileCacheStore

  func examine(_ patient: Patient) async throws -> [Finding] {
    let root = try store.path()
    guard FileStatus(root) != nil else {
      let none = Finding.ok("There is no file store in \(root) yet; the first write makes it.")
      return [sharing(try store.sharing(), root) ?? none]
    }
    let groups = try store.path(of: nil)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: groups)) ?? []
    let directories = [root, groups] + names.sorted().map { "\(groups)/\($0)" }
    let findings = (directories + directories.map { "\($0)/lock" }).compactMap {
      Finding.ofAccess(to: $0, advice: "Find out who did that. The store does not use it.")
    }
    let shared = sharing(try store.sharing(), root)
    if let shared { return findings + [shared] }
    return findings.isEmpty ? [.ok("The file store in \(root) is closed to others.")] : findings
  }

  /// What is to be said of a network file system.
  private func sharing(_ sharing: FileSharing, _ root: String) -> Finding? {
    let advice = "Name a directory of this machine: export XDG_DATA_HOME=…"
    return switch sharing {
    case .machine: nil
    case .network(let name):
      .warning(
        "Other machines may use \(root) (\(name)): every answer is read anew, and locks are the file system's.",
        advice: advice)
    case .networkWithoutLocks(let name):
      .problem(
        "Other machines may use \(root) (\(name)), and no lock is sure to reach them: it is read and not written.",
        advice: advice)
    }
  }
}
