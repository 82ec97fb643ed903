import FoundationEssentials
import GLibSupport
import Glibc

/// The directory in which processes lock each other out while they write.
struct LockDirectoryCheck: Check {
  static let name = "lock_directory"

  func examine(_ patient: Patient) async -> [Finding] {
    let directory = RuntimeDirectory(environment: patient.environment)
    if let finding = Self.finding(directory.path) { return [finding] }
    let files = files(in: directory.path).compactMap(Self.finding)
    if !files.isEmpty { return files }
    do {
      guard try excludesOthers(directory.path) else {
        return [
          .problem(
            "Locks do not work in \(directory.path): two processes got the same one.", advice: Self.advice)
        ]
      }
    } catch {
      return [.problem(error, advice: Self.advice)]
    }
    if let name = FileSharing(of: directory.path).fileSystem {
      return [
        .warning(
          "Locks are in \(directory.path) on a network file system (\(name)), where no counter reaches all.",
          advice: "Every answer comes from the keyring. " + Self.advice)
      ]
    }
    if !directory.isShared {
      return [
        .warning(
          "In this sandbox the locks of other programs are not seen: \(directory.path) is its own.",
          advice: "Every answer comes from the keyring. Let only one program at a time write a group.")
      ]
    }
    if patient.environment["XDG_RUNTIME_DIR"] == nil && directory.path.hasPrefix("/tmp/") {
      return [
        .warning(
          "Locks are in \(directory.path), where programs that have XDG_RUNTIME_DIR do not look.",
          advice: "Give all programs the same runtime directory: see loginctl enable-linger, and pam_systemd."
        )
      ]
    }
    return [.ok("Locks work in \(directory.path), which is closed to others.")]
  }

  private static let advice =
    "Name a directory of your own: export XDG_RUNTIME_DIR=/run/user/$(id -u), if there is that one."

  private func files(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
      .filter { $0.hasSuffix(".lock") }.map { "\(directory)/\($0)" }
  }

  /// What is wrong with the owner or the mode of the directory or a file in it.
  private static func finding(_ path: String) -> Finding? {
    .ofAccess(to: path, advice: "rm -r \(shellQuoted(path))")
  }

  /// Takes a lock, and tries to take it a second time.
  private func excludesOthers(_ directory: String) throws(PrivateFileError) -> Bool {
    let name = "doctor.lock"
    let path = "\(directory)/\(name)"
    let held = try HeldLockFile(directory: directory, name: name)
    defer { held.release() }
    defer { unsafe unlink(path) }
    let second = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard second >= 0 else { throw .system(call: "open", path: path, code: errno) }
    defer { close(second) }
    return flock(second, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }
}
