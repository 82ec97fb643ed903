import TestSupport

@testable import GLibSupport

/// Reading and writing of whole files and pipes.
struct FileDescriptorTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory() }

  // A span cannot stand in an expectation.
  private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool { writeAll(bytes.span, to: descriptor) }

  @Test(arguments: [0, 1, 4096, 4097, 50_000])
  func `A pipe is read to its end, however much is in it`(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let pipe = try Pipe()
    #expect(write(bytes, to: pipe.writing))
    pipe.closeWriting()
    #expect(readAll(pipe.reading, limit: 50_000) == bytes)
  }

  @Test(arguments: [10, 5000])
  func `More than the limit is refused, in a file and in a pipe`(limit: Int) throws {
    let text = String(repeating: "x", count: limit + 1)
    let file = open(try files.file("long", text), O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let pipe = try Pipe()
    #expect(write(Array(text.utf8), to: pipe.writing))
    pipe.closeWriting()
    for descriptor in [file, pipe.reading] {
      let bytes = readAll(descriptor, limit: limit)
      let code = errno
      #expect(bytes == nil)
      #expect(code == EFBIG)
    }
    lseek(file, 0, SEEK_SET)
    #expect(readAll(file, limit: limit + 1)?.count == limit + 1)
    #expect(isFile(files.path + "/long", openAs: file) && !isFile(files.path, openAs: file))
  }

  @Test func `A failed read or write sets errno`() {
    let bytes = readAll(-1, limit: 10)
    #expect((bytes, errno) == (nil, EBADF))
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let isWritten = write([1], to: full)
    #expect((isWritten, errno) == (false, ENOSPC))
    let isReplaced = replaceFile(files.path, with: [1].span)
    #expect((isReplaced, errno) == (false, EISDIR))
  }

  @Test func `Where standard input is closed, descriptor 0 is one like any other`() async {
    await #expect(processExitsWith: .success) { try workWithoutStandardInput() }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func `Another user's file stays that user's when root replaces it`() throws {
    let path = try files.file("theirs", "old", mode: 0o600)
    for user in [uid_t(1000), 0] {
      #expect(chown(path, user, user) == 0)
      let isReplaced = replaceFile(path, with: [1, 2].span)
      #expect(isReplaced)
      var status = stat()
      #expect(lstat(path, &status) == 0 && status.st_size == 2)
      #expect(status.st_uid == user && status.st_gid == user && status.st_mode & 0o7777 == 0o600)
    }
  }

  @Test(.fault("disk full new"))
  func `A new file has its mode under any umask, and is removed if it cannot be written`() async {
    await #expect(processExitsWith: .success) { try makeFiles(mask: 0o000) }
    await #expect(processExitsWith: .success) { try makeFiles(mask: 0o077) }
    await #expect(processExitsWith: .success) { try makeFiles(mask: 0o777) }
  }
}

private func makeFiles(mask: mode_t) throws {
  let files = try TemporaryDirectory()
  umask(mask)
  let path = files.path + "/new"
  var status = stat()
  let isThere = writeNewFile([1, 2].span, to: path, mode: 0o755)
  #expect(isThere && stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o755)
  let isWritten = writeNewFile([3].span, to: path)
  #expect(!isWritten && errno == EEXIST)

  signal(SIGXFSZ, SIG_IGN)
  var none = rlimit(rlim_cur: 0, rlim_max: 0)
  setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
  let isTooLarge = !writeNewFile([1].span, to: files.path + "/large") && errno == EFBIG
  #expect(isTooLarge)
  #expect(access(files.path + "/large", F_OK) != 0)
}

private func workWithoutStandardInput() throws {
  let files = try TemporaryDirectory()
  let directory = try PrivateDirectory.made(at: files.path + "/a")
  close(STDIN_FILENO)
  try makeDirectory(files.path + "/b")
  #expect(canOpen(3) && fcntl(STDIN_FILENO, F_GETFD) == -1)
  let isWritten = writeNewFile([1, 2].span, to: files.path + "/new")
  #expect(isWritten)
  #expect(try readFile(files.path + "/new", limit: 10) == [1, 2])
  try directory.write([3], to: "file")
  #expect(try directory.read("file", limit: 10) == [3])
  #expect(try directory.names() == ["file"])
  close(try directory.open("file"))
  let socket = listeningUnixSocket(SOCK_STREAM, at: files.path + "/socket", mode: 0o600, backlog: 1)
  close(socket)
  let again = try PrivateDirectory.existing(at: directory.path)
  #expect(socket >= 0 && again != nil)
}

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
    try directory.write([], to: "file")
    #expect(try directory.beginning(of: "file", size: 3).isEmpty)
    try directory.write(bytes, to: "file.new")
    try directory.rename("file.new", to: "file")
    try directory.sync()
    #expect(try directory.read("file", limit: 1 << 20) == bytes)
    #expect(try directory.names() == ["file"])
    #expect(try directory.beginning(of: "file", size: 3) == [0, 1, 2])
    #expect(directory.modification(of: "file") != nil && directory.modification(of: "none") == nil)
    #expect(throws: PrivateFileError.system(call: "read", path: "\(directory.path)/file", code: EFBIG)) {
      try directory.read("file", limit: 99_999)
    }
    try directory.remove("file")
    try directory.remove("file")
    #expect(try directory.names().isEmpty)
  }

  @Test func `Many files are written in one call, or none is left`() throws {
    let files = (0..<200).map { (name: "\($0)", bytes: Array("contents \($0)".utf8)) }
    try directory.write(files)
    for (name, bytes) in files { #expect(try directory.read(name, limit: 100) == bytes) }
    #expect(throws: PrivateFileError.system(call: "write", path: "\(directory.path)/none/1", code: ENOENT)) {
      try directory.write(files + [("none/1", [1])])
    }
    #expect(try directory.names().isEmpty)
  }

  @Test func `A link or a pipe is not read, and does not block`() throws {
    #expect(mkfifo("\(directory.path)/pipe", 0o600) == 0)
    #expect(symlink("/etc/hostname", "\(directory.path)/link") == 0)
    for name in ["pipe", "link"] {
      #expect(throws: PrivateFileError.notRegular(path: "\(directory.path)/\(name)")) {
        try directory.read(name, limit: 100)
      }
      // Writing replaces it and leaves a link's target.
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
    #expect(try readFile(path, limit: 10, refusingOtherWriters: true) == [1, 2, 3])
    chmod(path, 0o620)
    #expect(try readFile(path, limit: 10) == [1, 2, 3])
    #expect(throws: PrivateFileError.notPrivate(path: path)) {
      try readFile(path, limit: 10, refusingOtherWriters: true)
    }
    for (owner, mode, user, expected) in [
      (1000, 0o600, 1000, true), (1000, 0o640, 1000, false), (1001, 0o400, 1000, false),
      (0, 0o440, 1000, true), (0, 0o444, 1000, false), (0, 0o460, 1000, false), (0, 0o440, 0, false),
    ] as [(uid_t, mode_t, uid_t, Bool)] {
      #expect(isPrivate(owner: owner, mode: mode, user: user) == expected, "\(owner) \(mode) \(user)")
    }
  }

  @Test func `A missing directory is nil, and one that others may enter is refused`() throws {
    let none = try PrivateDirectory.existing(at: directory.path + "/none")
    #expect(none == nil)
    chmod(directory.path, 0o711)
    #expect(throws: PrivateFileError.notPrivate(path: directory.path)) {
      _ = try PrivateDirectory.existing(at: directory.path)
    }
  }

  @Test func `A directory that cannot be made is named, with the reason`() {
    let error = #expect(throws: PrivateFileError.self) { try PrivateDirectory.made(at: "/sys/llavero/data") }
    guard case .system("mkdir", "/sys/llavero", let code) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect([EPERM, EACCES, EROFS].contains(code))
  }

  @Test(.fault("bad HOME")) func `A path through a file is missing`() throws {
    let below = try PrivateDirectory.existing(at: "/dev/null/data")
    #expect(below == nil)
    #expect(try readPrivateFile("/dev/null/key", limit: 10) == nil)
    #expect(throws: PrivateFileError.notPrivate(path: "/dev/null")) {
      _ = try PrivateDirectory.existing(at: "/dev/null")
    }
  }
}

struct RuntimeDirectoryTests {
  @Test(.fault("runtime dir"), arguments: [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "relative"]])
  func `Without a session's directory its name has the user's number`(environment: [String: String]) {
    let user = geteuid()
    let isLoggedIn = access("/run/user/\(user)", F_OK) == 0
    let path = RuntimeDirectory(environment: environment).path
    #expect(path == (isLoggedIn ? "/run/user/\(user)/llavero" : "/tmp/llavero-\(user)"))
  }

  @Test func `In a snap the directory is not shared`() {
    #expect(RuntimeDirectory(environment: [:]).isShared)
    #expect(!RuntimeDirectory(environment: ["SNAP": "/snap/app/1"]).isShared)
  }

  @Test(.fault("foreign runtime"))
  func `A directory in one that others may use is refused, and not made`() throws {
    let home = try TemporaryDirectory()
    let runtime = RuntimeDirectory(environment: ["XDG_RUNTIME_DIR": home.path])
    #expect(try runtime.directory("loan").path == home.path + "/llavero/loan")
    chmod(runtime.path, 0o777)
    #expect(throws: PrivateFileError.notPrivate(path: runtime.path)) { try runtime.directory("other") }
    #expect(access(runtime.path + "/other", F_OK) != 0)
  }
}
