import Glibc
import TestSupport
import Testing

@testable import GLibSupport

/// Files that are replaced as a whole, in a directory of one user.
struct PrivateDirectoryTests {
  private let directory: PrivateDirectory
  private let parent: TemporaryDirectory

  init() throws {
    parent = try TemporaryDirectory()
    directory = try PrivateDirectory.made(at: parent.path + "/a/b")
  }

  @Test func `A file is read as it was written, under its new name`() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    #expect(try directory.read("file", limit: 1 << 20) == nil)
    try directory.write(Array("old".utf8), to: "file")
    try directory.write(bytes, to: "file.new")
    try directory.rename("file.new", to: "file")
    try directory.sync()
    #expect(try directory.read("file", limit: 1 << 20) == bytes)
    #expect(try directory.names() == ["file"])
    #expect(throws: PrivateFileError.system(call: "read", path: "\(directory.path)/file", code: EFBIG)) {
      try directory.read("file", limit: 99_999)
    }
    try directory.remove("file")
    try directory.remove("file")
    #expect(try directory.names().isEmpty)
  }

  @Test func `What is no file of its own is not read, and no pipe is waited for`() throws {
    #expect(mkfifo("\(directory.path)/pipe", 0o600) == 0)
    #expect(symlink("/etc/hostname", "\(directory.path)/link") == 0)
    for name in ["pipe", "link"] {
      #expect(throws: PrivateFileError.notRegular(path: "\(directory.path)/\(name)")) {
        try directory.read(name, limit: 100)
      }
      // Writing replaces it and leaves alone where it leads to.
      try directory.write([1], to: name)
      #expect(try directory.read(name, limit: 100) == [1])
    }
  }

  @Test func `A key file that others can read is refused unless that is allowed`() throws {
    let path = directory.path + "/key"
    #expect(try readPrivateFile(path, limit: 10) == nil)
    try directory.write([1, 2, 3], to: "key")
    #expect(try readPrivateFile(path, limit: 10) == [1, 2, 3])
    chmod(path, 0o604)
    #expect(throws: PrivateFileError.notPrivate(path: path)) { try readPrivateFile(path, limit: 10) }
    #expect(try readPrivateFile(path, limit: 10, openToOthers: true) == [1, 2, 3])
  }

  @Test func `A directory that is not there is none, and one that others may enter is refused`() throws {
    let none = try PrivateDirectory.existing(at: directory.path + "/none")
    #expect(none == nil)
    chmod(directory.path, 0o711)
    #expect(throws: PrivateFileError.notPrivate(path: directory.path)) {
      _ = try PrivateDirectory.existing(at: directory.path)
    }
  }

  @Test func `A directory that cannot be made says why`() {
    let error = #expect(throws: PrivateFileError.self) { try PrivateDirectory.made(at: "/sys/llavero/data") }
    guard case .system("mkdir", "/sys/llavero", let code) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect([EPERM, EACCES, EROFS].contains(code))
  }

  @Test(.fault("bad HOME")) func `A path through what is no directory leads to none`() throws {
    let below = try PrivateDirectory.existing(at: "/dev/null/data")
    #expect(below == nil)
    #expect(try readPrivateFile("/dev/null/key", limit: 10) == nil)
    #expect(throws: PrivateFileError.notPrivate(path: "/dev/null")) {
      _ = try PrivateDirectory.existing(at: "/dev/null")
    }
  }
}
