import FoundationEssentials
import GLibSupport
import Glibc

func inputName(_ path: String) -> String { path == "-" ? "Standard input" : path }

/// Reads a file that the command line names, or standard input for `-`.
func readInput(_ path: String) throws(Failure) -> Data {
  // Larger than any cache, small enough not to fill the memory by mistake.
  let limit = 256 << 20
  let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
  defer { if descriptor >= 0, path != "-" { close(descriptor) } }
  if descriptor >= 0, var bytes = readAll(descriptor, limit: limit) {
    defer { wipe(&bytes) }
    return Data(bytes)
  }
  guard descriptor >= 0, errno == EFBIG else {
    throw Failure("unreadable", "\(inputName(path)) cannot be read: \(systemReason()).")
  }
  throw Failure("too_large", "\(inputName(path)) is larger than the limit of \(limit >> 20) MiB.")
}

/// Replaces a file atomically, and makes the directories above it with the mode of the XDG Base Directory Specification.
func writeFile(
  _ path: String, _ contents: [UInt8], mode: UInt = 0o644, advice: String? = nil
) throws(Failure) {
  try requireOwnHome(for: path)
  try? makeDirectory(parentDirectory(of: path))
  guard replaceFile(path, with: contents.span, mode: UInt32(mode)) else {
    throw .unwritable(path, advice: advice)
  }
}

/// Makes a new file of a key, which only this user may read, and the directory that it is in. A file that exists is an error.
func writeKeyFile(_ bytes: Span<UInt8>, to path: String) throws(Failure) {
  try requireOwnHome(for: path)
  try? makeDirectory(parentDirectory(of: path))
  guard writeNewFile(bytes, to: path) else { throw .unwritable(path) }
}

/// Makes a key of 32 random bytes in a new file, unless there is a file.
///
/// - Returns: Whether it was made.
func makeKeyFile(_ path: String) throws(Failure) -> Bool {
  guard FileStatus(path) == nil else { return false }
  var key = randomBytes(32)
  defer { wipe(&key) }
  try writeKeyFile(key.span, to: path)
  return true
}

/// Throws where root would leave files in another user's home directory (`sudo -E`): that user could not use them, nor what is in
/// the same directories.
func requireOwnHome(for path: String? = nil) throws(Failure) {
  guard geteuid() == 0, let home = processEnvironment()["HOME"], path?.hasPrefix(home + "/") ?? true,
    let owner = FileStatus(home + "/.")?.owner, owner != 0
  else { return }
  let name = unsafe getpwuid(owner).map { unsafe String(cString: $0.pointee.pw_name) }
  let user = name ?? "#\(owner)"
  let command = (["llavero"] + processArguments.dropFirst()).map(shellQuoted).joined(separator: " ")
  throw Failure(
    "other_home", "HOME is \(home), which belongs to \(user), and this process is root's.", code: .usage,
    advice:
      "Root's own directory is used with sudo -H. Run it as that user: sudo -u \(shellQuoted(user)) \(command)"
  )
}

func removeFile(_ path: String) throws(Failure) {
  guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .unwritable(path) }
}

extension Failure {
  /// A file cannot be written or removed, for the reason of a system call.
  static func unwritable(_ path: String, _ code: Int32 = errno, advice: String? = nil) -> Failure {
    Failure("unwritable", "\(path) cannot be written: \(systemReason(code)).", advice: advice)
  }
}

/// Not FileManager's, which looks up the names of the user and the group: on some machines a server has them.
struct FileStatus {
  private var status = stat()

  /// Reads the status, of a link its own; `nil` if the file does not exist.
  init?(_ path: String) {
    guard unsafe lstat(path, &status) == 0 else { return nil }
  }

  var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
  var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
  var isOwn: Bool { owner == geteuid() }
  var owner: uid_t { status.st_uid }

  /// The permissions, with those of set-user-ID, set-group-ID and the sticky bit.
  var mode: UInt { UInt(status.st_mode & ~S_IFMT) }
}
