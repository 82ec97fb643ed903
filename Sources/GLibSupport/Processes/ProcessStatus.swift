import CGLib
import Glibc

/// The status of a process in `/proc` (proc(5)).
package struct ProcessStatus {
  /// The name of its command, which a process can change itself.
  package let command: String
  /// Whether it has ended and was not waited for.
  package let isZombie: Bool
  /// When it was started, in clock ticks since the system started.
  package let start: UInt64

  /// - Returns: `nil` if the process does not exist or is not visible.
  package init?(_ process: Int32) {
    guard let bytes = try? readFile("/proc/\(process)/stat", limit: 4096) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    // The name is in parentheses, and may have some itself.
    guard let opening = text.firstIndex(of: "("), let closing = text.lastIndex(of: ")"), opening < closing
    else { return nil }
    // The name is the second field, the state the third and the start the 22nd.
    let fields = text[text.index(after: closing)...].split(separator: " ")
    guard fields.count > 19, let start = UInt64(fields[19]) else { return nil }
    command = String(text[text.index(after: opening)..<closing])
    isZombie = fields[0] == "Z" || fields[0] == "X"
    self.start = start
  }

  /// The processes that have this number in a PID namespace below this one, such as a container's.
  package static func nested(numbered number: Int32) -> [Int32] {
    all.filter { field("NSpid", of: $0).dropFirst().contains("\(number)") }
  }

  /// The visible processes of this user.
  package static var ofThisUser: [Int32] {
    all.filter { field("Uid", of: $0).dropFirst().first == "\(geteuid())" }
  }

  private static var all: [Int32] {
    let list = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return ((try? PrivateDirectory.names(list, "/proc")) ?? []).compactMap(Int32.init)
  }

  /// The words of a line of `/proc/PID/status`; none if the process has ended.
  private static func field(_ name: String, of process: Int32) -> [Substring] {
    let text = (try? readFile("/proc/\(process)/status", limit: 1 << 16)) ?? []
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().map(\.self) ?? []
  }

  /// Whether invisible processes may use a file: this process is in a PID namespace of its own, such as a container's, and
  /// the file is on another file system than the container's root.
  package static func mayBeHidden(usersOf path: String) -> Bool {
    var (namespace, file, root) = (stat(), stat(), stat())
    // The inode of the first namespace (PROC_PID_INIT_INO of Linux).
    guard stat("/proc/self/ns/pid", &namespace) == 0, namespace.st_ino != 0xefff_fffc else { return false }
    return stat(path, &file) == 0 && stat("/", &root) == 0 && file.st_dev != root.st_dev
  }
}
