import GLibSupport
import Glibc
import TestSupport
import Testing

/// Files and pipes that are read and written as a whole.
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
  }

  @Test func `What cannot be read or written says why`() {
    let bytes = readAll(-1, limit: 10)
    #expect((bytes, errno) == (nil, EBADF))
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let isWritten = write([1], to: full)
    #expect((isWritten, errno) == (false, ENOSPC))
  }

  @Test(.fault("disk full new"))
  func `A new file has its mode under any umask, and there is none that was not written`() async {
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
