import Dispatch
import TestSupport

/// A lock file in a directory of its own.
extension TemporaryDirectory {
  fileprivate var locks: String { path + "/llavero" }
  fileprivate var lockFile: String { locks + "/group" }

  fileprivate func open() throws(PrivateFileError) -> SharedLockFile {
    try SharedLockFile(directory: locks, name: "group")
  }

  fileprivate func write(_ text: String) {
    guard let file = fopen(lockFile, "w") else { fatalError("\(lockFile): \(errno)") }
    fputs(text, file)
    fclose(file)
  }
}

extension SharedLockFile {
  fileprivate func locked<T>(_ body: () -> T) throws -> T {
    try lock()
    defer { unlock() }
    return body()
  }

  /// Begins a write and ends it.
  fileprivate func write() throws {
    try locked {
      beginWrite()
      endWrite()
    }
  }
}

@Suite(.timeLimit(.minutes(20)))
struct SharedLockFileTests {
  private let scratch: TemporaryDirectory

  init() throws { scratch = try TemporaryDirectory() }

  @Test func `A new file is private and starts with a completed write`() throws {
    let file = try scratch.open()
    #expect(file.generation % 2 == 0)
    var status = stat()
    #expect(stat(scratch.locks, &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(stat(scratch.lockFile, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(status.st_size == 4096)
  }

  @Test func `A write is seen through every mapping`() throws {
    let writer = try scratch.open()
    let reader = try scratch.open()
    let start = reader.generation
    #expect(start == writer.generation)
    try writer.locked {
      writer.beginWrite()
      #expect(reader.generation == start + 1)
      writer.endWrite()
    }
    #expect(reader.generation == start + 2)
  }

  @Test func `A writer that died leaves an odd number, and the next one makes it even`() throws {
    let file = try scratch.open()
    let start = file.generation
    file.beginWrite()
    file.beginWrite()
    #expect(file.generation == start + 3)
    file.endWrite()
    #expect(file.generation == start + 4)
  }

  @Test(.requirement("R7.7"), .fault("absurd number"), arguments: [UInt64.max - 2, .max - 1, .max])
  func `A counter at its end begins again`(counter: UInt64) throws {
    let file = try scratch.open()
    let page = try #require(fopen(scratch.lockFile, "r+"))
    fseek(page, 8, SEEK_SET)
    withUnsafeBytes(of: counter) { _ = fwrite($0.baseAddress, 8, 1, page) }
    fclose(page)
    file.beginWrite()
    #expect(file.generation % 2 == 1)
    file.endWrite()
    #expect(file.generation == (counter % 2 == 0 ? counter &+ 2 : counter &+ 3))
  }

  @Test func `The counter is shared with other processes`() async throws {
    let file = try scratch.open()
    let start = file.generation
    try await count(processes: 1)
    #expect(file.generation == start + 2 * 2000)
  }

  @Test func `Processes that write at once lose no count`() async throws {
    let file = try scratch.open()
    let start = file.generation
    try await count(processes: 2)
    #expect(file.generation == start + 2 * 2 * 2000)
  }

  /// Has processes begin and end 2000 writes each, all at once.
  private func count(processes: Int) async throws {
    let workers = try (0..<processes).map { _ in
      try Worker([Worker.program, "count", scratch.locks, "2000"], environment: Child.plain)
    }
    for worker in workers { #expect(await worker.nextLine() == "ready") }
    let ends = try await atOnce(workers) { await $0.finish().status }
    #expect(ends == Array(repeating: 0, count: processes))
  }

  @Test func `Threads exclude each other, with one object and with two`() throws {
    let files = [try scratch.open(), try scratch.open()]
    let inside = Atomic(0)
    let collisions = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 400) { number in
      try? files[number % 2].locked {
        if inside.add(1, ordering: .relaxed).newValue != 1 { collisions.add(1, ordering: .relaxed) }
        sched_yield()
        inside.subtract(1, ordering: .relaxed)
      }
    }
    let count = collisions.load(ordering: .relaxed)
    #expect(count == 0)
  }

  @Test func `A lock held here excludes another process`() throws {
    let file = try scratch.open()
    let tryIt = ["--nonblock", scratch.lockFile, "true"]
    let held = try file.locked { try? Child.run("flock", tryIt).status }
    #expect(held == 1)
    #expect(try Child.run("flock", tryIt).status == 0)
  }

  @Test(.fault("writer killed")) func `A killed holder releases the lock`() throws {
    let file = try scratch.open()
    let output = try Pipe()
    let holder = try Child.piped(
      "flock", ["--no-fork", scratch.lockFile, "sh", "-c", "echo held; exec sleep 60 >/dev/null"],
      output: output)
    #expect(output.readLine() == "held")
    let killer = DispatchQueue(label: "killer")
    let isKilled = Atomic(false)
    killer.asyncAfter(deadline: .now() + .milliseconds(50)) {
      isKilled.store(true, ordering: .sequentiallyConsistent)
      holder.end()
    }
    let waited = try file.locked { isKilled.load(ordering: .sequentiallyConsistent) }
    #expect(waited)
    killer.sync {}
  }

  @Test(.fault("other user"))
  func `A directory that is a link or open to others is refused`() throws {
    let refused = PrivateFileError.notPrivate(path: scratch.locks)
    mkdir(scratch.path + "/real", 0o700)
    symlink(scratch.path + "/real", scratch.locks)
    #expect(throws: refused) { try scratch.open() }
    unlink(scratch.locks)

    mkdir(scratch.locks, 0o700)
    chmod(scratch.locks, 0o750)
    #expect(throws: refused) { try scratch.open() }
    chmod(scratch.locks, 0o700)

    symlink("/dev/null", scratch.lockFile)
    #expect(throws: PrivateFileError.notPrivate(path: scratch.lockFile)) { try scratch.open() }
    unlink(scratch.lockFile)
    _ = try scratch.open()
    chmod(scratch.lockFile, 0o644)
    #expect(throws: PrivateFileError.notPrivate(path: scratch.lockFile)) { try scratch.open() }
  }

  @Test(
    .fault("other user"), .enabled(if: geteuid() == 0, "only root can give a directory away"))
  func `A directory of another user is refused`() throws {
    mkdir(scratch.locks, 0o700)
    chown(scratch.locks, 65534, 65534)
    #expect(throws: PrivateFileError.notPrivate(path: scratch.locks)) { try scratch.open() }
    chown(scratch.locks, 0, 0)
  }

  @Test(
    .fault("other user"), .enabled(if: geteuid() == 0, "only root can give a directory away"))
  func `Root makes no directory in another user's`() throws {
    chown(scratch.path, 65534, 65534)
    defer { chown(scratch.path, 0, 0) }
    #expect(throws: PrivateFileError.notPrivate(path: scratch.path)) { try scratch.open() }
    #expect(access(scratch.locks, F_OK) != 0)
    mkdir(scratch.locks, 0o700)
    _ = try scratch.open()
  }

  @Test(
    .requirement("R7.3"),
    .fault("lock deleted"),
    arguments: [
      Named("empty", ""), Named("short", "LLAV"), Named("other text", "some other file's text"),
      Named("long", String(repeating: "x", count: 10_000)),
    ])
  func `An incomplete file is repaired`(text: Named<String>) throws {
    _ = try scratch.open()
    scratch.write(text.value)
    let file = try scratch.open()
    #expect(file.generation % 2 == 0)
    var status = stat()
    #expect(stat(scratch.lockFile, &status) == 0 && status.st_size == 4096)
    file.beginWrite()
    #expect(try scratch.open().generation == file.generation)
  }

  @Test(.requirement("R7.4"), .fault("lock torn"))
  func `An incomplete file that another process has locked blocks no reader`() async throws {
    _ = try scratch.open()
    scratch.write("")
    let holder = try HeldLock(on: scratch.lockFile)
    let file = try scratch.open()
    #expect(file.generation % 2 == 1)
    #expect(holder.isHeld)

    // The lock's holder repairs the file; a reader does so a second later at most.
    let other = try scratch.open()
    holder.release()
    try await eventually { file.generation % 2 == 0 }
    try other.write()
    #expect(file.generation == other.generation)
  }

  @Test(.fault("lock torn")) func `The next holder of the lock repairs an incomplete file`() throws {
    _ = try scratch.open()
    scratch.write("")
    let holder = try HeldLock(on: scratch.lockFile)
    let file = try scratch.open()
    holder.release()
    try file.locked { #expect(file.generation % 2 == 0) }
    #expect(try scratch.open().generation == file.generation)
  }

  @Test(.fault("lock disk full")) func `A disk without room is an error, not a crash`() async throws {
    await #expect(processExitsWith: .success) {
      let scratch = try TemporaryDirectory()
      signal(SIGXFSZ, SIG_IGN)
      var none = rlimit(rlim_cur: 100, rlim_max: 100)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
      let expected = PrivateFileError.system(
        call: "posix_fallocate", path: scratch.lockFile, code: EFBIG)
      #expect(throws: expected) { try scratch.open() }
    }
  }

  @Test(.enabled(if: NetworkMount.isPossible, "mounts need root, bindfs and sshfs"))
  func `A network file system that hangs blocks no reader`() async throws {
    await #expect(processExitsWith: .success) {
      let scratch = try TemporaryDirectory()
      let mount = try NetworkMount(.withLocks, of: scratch.path)
      let file = try SharedLockFile(directory: mount.path + "/llavero", name: "group")
      mount.hang()
      defer { mount.goOn() }
      #expect(file.generation == .max)
    }
  }

  @Test(.requirement("R7.6")) func `A deleted file is made again with another number`() async throws {
    let file = try scratch.open()
    let other = try scratch.open()
    let before = file.generation
    unlink(scratch.lockFile)
    rmdir(scratch.locks)
    try file.locked {}
    #expect(file.generation != before)
    let again = try scratch.open()
    #expect(again.generation == file.generation)
    try file.write()
    #expect(again.generation == file.generation)
    // The old file's number is not trusted for longer than a second.
    try await eventually { other.generation != before }
    #expect(other.generation % 2 == 1)
    try other.locked {}
    #expect(other.generation == file.generation)
  }

  @Test(.fault("lock file gone"))
  func `A new file that cannot be made leaves no lock on the old one`() throws {
    let file = try scratch.open()
    let old = Glibc.open(scratch.lockFile, O_RDWR | O_CLOEXEC)
    defer { close(old) }
    unlink(scratch.lockFile)
    chmod(scratch.locks, 0o755)
    #expect(throws: PrivateFileError.notPrivate(path: scratch.locks)) { try file.locked {} }
    #expect(flock(old, LOCK_EX | LOCK_NB) == 0)
    flock(old, LOCK_UN)
    chmod(scratch.locks, 0o700)
    try file.locked {}
    #expect(file.generation % 2 == 0)
  }
}

/// A child that was forked without exec shares the parent's open files, locks among them.
@Suite(.timeLimit(.minutes(20)))
struct ForkTests {
  /// Swift does not import fork, because little may be done in the child. This one only waits for its end.
  private static func forkedChild() throws -> pid_t {
    let symbol = try #require(dlsym(nil, "fork"))
    let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
    let child = fork()
    if child == 0 { while true { pause() } }
    return child
  }

  private static func end(_ child: pid_t) {
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
  }

  /// In a process of its own: the child would keep open what other tests have open meanwhile.
  @Test(.fault("fork")) func `A released lock is free although a forked child lives on`() async {
    await #expect(processExitsWith: .success) {
      let scratch = try TemporaryDirectory()
      let directory = scratch.path
      func isFree(_ name: String) throws -> Bool {
        try Child.run("flock", ["--nonblock", "\(directory)/\(name)", "true"]).status == 0
      }

      let held = try HeldLockFile(directory: directory, name: "held")
      let shared = try SharedLockFile(directory: directory, name: "shared")
      try shared.lock()
      let child = try Self.forkedChild()
      shared.unlock()
      defer { Self.end(child) }
      #expect(try !isFree("held"))
      #expect(try isFree("shared"))
      held.release()
      #expect(try isFree("held"))
      held.remove()
      #expect(access(directory + "/held", F_OK) == 0)
    }
  }
}
