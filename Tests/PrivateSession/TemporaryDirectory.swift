import FoundationEssentials
public import Glibc

/// A new directory for a test's files, of this user alone, that is removed with this object.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init(in parent: String = "/tmp") throws {
    var template = Array("\(parent)/llavero-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SetUpFailure("no directory in \(parent): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Makes a file, and the directories that it is in, and returns its path.
  @discardableResult
  public func file(_ name: String, _ contents: String = "", mode: mode_t? = nil) throws -> String {
    let file = URL(filePath: path + "/" + name)
    do {
      try FileManager.default.createDirectory(
        atPath: file.deletingLastPathComponent().path, withIntermediateDirectories: true)
      try Data(contents.utf8).write(to: file)
    } catch {
      throw SetUpFailure("\(file.path): \(error)", advice: "See that there is room in \(path).")
    }
    if let mode { chmod(file.path, mode) }
    return file.path
  }

  /// Makes a script that can be run and returns its path.
  ///
  /// Another process writes it: a program is not started while a descriptor can write to it, and each child that a test
  /// starts meanwhile inherits this process's for a moment.
  public func program(_ name: String, _ script: String) throws -> String {
    let path = path + "/" + name
    try Child.output("install", ["-m", "700", "/dev/stdin", path], input: script)
    return path
  }

  /// Makes a directory inside and returns its path.
  @discardableResult
  public func directory(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
    return path + "/" + name
  }

  public func contents(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path + "/" + name)), as: UTF8.self)
  }
}
