import TestSupport

@testable import MSALExtensionsStore

@Suite(.timeLimit(.minutes(20)))
struct PeerLockTests {
  let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/cache.lockfile"
  }

  private func take(
    _ paths: [String]? = nil, timeout: Duration = .seconds(10)
  ) throws(CacheError) -> PeerLock {
    try PeerLock(paths ?? [path], users: "Test", timeout: timeout, Cancellable(timeout: .seconds(30)))
  }

  /// A process that lives until it is waited for.
  private func sleeper() throws -> Child { try Child("sleep", ["600"]) }

  private func isLocked(by expected: String) -> Bool {
    do throws(CacheError) {
      try take(timeout: .milliseconds(20)).release()
      return false
    } catch {
      return error.code == .timedOut && error.message.contains(expected) && error.message.contains(path)
    }
  }

  @Test func `The file names the lock's holder, and is removed with the lock`() throws {
    let lock = try take()
    #expect(try directory.contents("cache.lockfile").hasPrefix("\(getpid()) "))
    #expect(lock.isStillHeld)
    #expect(isLocked(by: "process \(getpid())"))
    lock.release()
    #expect(access(path, F_OK) != 0)
    try take().release()
  }

  @Test func `A directory that is a link to nothing is reported`() throws {
    #expect(symlink(directory.path + "/unmounted", directory.path + "/link") == 0)
    let path = directory.path + "/link/cache.lockfile"
    let error = #expect(throws: CacheError(.unavailable, "")) { try take([path]) }
    #expect(error?.message.contains(directory.path + "/link") == true)
  }

  static let formats: [Named<(String, String)>] = [
    Named("Python", ("PID /usr/bin/my app.py", " (/usr/bin/my app.py)")),
    Named(".NET", ("\u{FEFF}PID dotnet\n", " (dotnet)")), Named("Go", ("{PID} {./app}", " (./app)")),
    Named("Node", ("PID", "")), Named("Java", ("PID host.example", " (host.example)")),
    Named("long", ("PID a" + String(repeating: "b", count: 80), " (a\(String(repeating: "b", count: 79)))")),
  ]

  @Test(arguments: formats)
  func `A file holds the lock while its holder lives, and not longer`(
    _ format: Named<(String, String)>
  ) async throws {
    let (text, program) = format.value
    let holder = try sleeper()
    _ = try directory.file("cache.lockfile", text.replacing("PID", with: "\(holder.pid)"))
    #expect(isLocked(by: "process \(holder.pid)\(program) holds"))
    #expect(PeerLock.deadHolder(of: path) == nil)
    // Dead, but not waited for yet.
    holder.signal(SIGKILL)
    // A child that another test is starting may keep what was open here for a moment, and its lock.
    try await eventually { PeerLock.deadHolder(of: path) != nil }
    #expect(PeerLock.deadHolder(of: path)?.pid == holder.pid)
    try take().release()
    #expect(access(path, F_OK) != 0)
    holder.wait()
  }

  @Test(.fault("net lock"), .enabled(if: NetworkMount.isPossible, "mounts need root, bindfs and sshfs"))
  func `On a network file system a file with an unknown process ID is held for a while`() throws {
    let export = try TemporaryDirectory()
    let mount = try NetworkMount(.withLocks, of: export.path)
    let path = try export.file("cache.lockfile", "\(missingProcess) elsewhere")
    let file = mount.path + "/cache.lockfile"
    #expect(throws: CacheError(.timedOut, "")) { try take([file], timeout: .milliseconds(20)).release() }
    #expect(PeerLock.deadHolder(of: file) == nil)
    #expect(PeerLock.deadHolder(of: path)?.pid == missingProcess)
    // The first process of another container has the number of the first of this one.
    try Data("\(getpid()) elsewhere".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: CacheError(.timedOut, "")) { try take([file], timeout: .milliseconds(20)).release() }
    _ = try export.file("cache.lockfile", "\(missingProcess) elsewhere")
    let old = [timeval(tv_sec: time(nil) - 600, tv_usec: 0), timeval(tv_sec: time(nil) - 600, tv_usec: 0)]
    #expect(utimes(path, old) == 0)
    #expect(PeerLock.deadHolder(of: file)?.pid == missingProcess)
    try take([file], timeout: .milliseconds(20)).release()
    #expect(access(path, F_OK) != 0)
  }

  @Test func `The holder of flock holds the lock, whatever the file says`() throws {
    _ = try directory.file("cache.lockfile", "\(missingProcess) gone")
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    try #require(flock(descriptor, LOCK_EX) == 0)
    #expect(isLocked(by: "process \(missingProcess)"))
    #expect(PeerLock.deadHolder(of: path) == nil)
    // Closing alone would not unlock: a child that another test starts has the file open, too, for a moment.
    flock(descriptor, LOCK_UN)
    close(descriptor)
    try take().release()
  }

  @Test func `A lock without flock is not ours, and our number in it is an earlier process's`() throws {
    _ = try directory.file("cache.lockfile", "\(getpid()) other")
    try take(timeout: .milliseconds(20)).release()
  }

  @Test func `The first process can hold a lock`() throws {
    _ = try directory.file("cache.lockfile", "1 init")
    #expect(isLocked(by: "process 1 (init)"))
  }

  @Test(arguments: ["", "0 python"])
  func `A file without the number of a process is held only for a moment`(text: String) throws {
    _ = try directory.file("cache.lockfile", text)
    func setAge(_ seconds: Int) {
      let moment = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
      _ = utimensat(AT_FDCWD, path, [moment, moment], 0)
    }
    // Younger than it can get while the test runs, however slowly.
    setAge(-600)
    #expect(isLocked(by: "another program"))
    setAge(2)
    try take().release()
  }

  @Test func `A dead holder's process ID that another process has now does not count`() throws {
    let other = try sleeper()
    _ = try directory.file("cache.lockfile", "\(other.pid) python")
    var old = [timespec(tv_sec: 1_700_000_000, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 0)]
    utimensat(AT_FDCWD, path, &old, 0)
    try take().release()
    other.end()
  }

  /// What starts a program as the first of a PID namespace; `nil` where none can be made.
  private static let container: [String]? = {
    let command =
      (geteuid() == 0 ? [] : ["--user", "--map-root-user"]) + ["--pid", "--fork", "--kill-child"]
    let trial = try? Child.run("unshare", command + ["true"])
    return trial?.status == 0 ? command : nil
  }()

  @Test(.fault("container lock"), .enabled(if: container != nil, "No PID namespace can be made here."))
  func `A process in a container holds its lock while it lives, and not longer`() async throws {
    let output = try Pipe()
    // It sees the /proc of all processes, and so which number is free.
    let script = """
      while :; do
        (exec sleep 600) & number=$!
        if [ ! -d /proc/$number ]; then printf '%s node' $number > "$1"; echo $number; wait; fi
        kill $number
      done
      """
    let holder = try Child(
      "unshare", (Self.container ?? []) + ["sh", "-c", script, "sh", path],
      streams: (nil, output.writing, nil))
    output.closeWriting()
    let number = output.readLine()
    try #require(!number.isEmpty)
    #expect(isLocked(by: "process \(number)"))
    #expect(PeerLock.deadHolder(of: path) == nil)
    holder.end()
    try await eventually { PeerLock.deadHolder(of: path) != nil }
    #expect(PeerLock.deadHolder(of: path)?.pid == Int32(number))
    try take().release()
  }

  @Test func `A removed lock is known to be lost, and the next one's file stays`() throws {
    let lock = try take([directory.path + "/a.lockfile", path])
    // As msal-node-extensions does when it reads.
    unlink(path)
    #expect(!lock.isStillHeld)
    let next = try take()
    lock.release()
    #expect(next.isStillHeld)
    // Its descriptors are others' by now.
    let other = try take([directory.path + "/b.lockfile", directory.path + "/c.lockfile"])
    lock.release()
    #expect(next.isStillHeld && other.isStillHeld)
    next.release()
  }

  @Test func `Before the process is ended all its lock files are removed, and no lock is taken any more`()
    async
  {
    await #expect(processExitsWith: .success) {
      let test = try PeerLockTests()
      let lost = try test.take()
      unlink(test.path)
      let lock = try test.take()
      lost.release()
      PeerLock.removeAllFiles()
      #expect(access(test.path, F_OK) != 0)
      #expect(throws: CacheError(.timedOut, "")) { try test.take(timeout: .zero) }
      lock.release()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func `A lock file that cannot be made is reported at once`() throws {
    let disk = try SmallDisk(kilobytes: 64)
    try disk.remount(readOnly: true)
    #expect(throws: CacheError(.unavailable, "")) { try take([disk.path + "/cache.lockfile"]) }
  }

  @Test func `Only a regular file is locked`() throws {
    mkfifo(path, 0o600)
    #expect(throws: CacheError(.unavailable, "")) { try take() }
    unlink(path)
    symlink(try directory.file("theirs", "theirs"), path)
    #expect(throws: CacheError(.unavailable, "")) { try take() }
    #expect(try directory.contents("theirs") == "theirs")
  }

  @Test func `A failure leaves no other lock`() throws {
    let first = directory.path + "/a.lockfile"
    let lock = try take()
    #expect(throws: CacheError(.timedOut, "")) { try take([first, path], timeout: .milliseconds(20)) }
    #expect(access(first, F_OK) != 0)
    lock.release()
  }

  @Test func `Threads exclude each other`() async throws {
    let counter = directory.path + "/counter"
    let path = path
    try await atOnce(0..<4) { _ in
      let queue = BlockingQueue(label: "test")
      for _ in 0..<25 {
        try? await queue.run(
          timeout: .seconds(60), onCancel: CacheError(.cancelled, ""), onTimeout: CacheError(.timedOut, "")
        ) { (cancellable) throws(CacheError) in
          let lock = try PeerLock([path], users: "Test", timeout: .seconds(50), cancellable)
          let count = (try? Data(contentsOf: URL(filePath: counter)))?.count ?? 0
          try? Data(repeating: 1, count: count + 1).write(to: URL(filePath: counter))
          lock.release()
        }
      }
    }
    #expect(try directory.contents("counter").utf8.count == 100)
  }

  @Test(.fault("too large")) func `A file beyond a reader's limit is not written`() throws {
    let path = directory.path + "/cache"
    #expect(throws: CacheError(.tooLarge, "")) {
      try FileContents.replace(path, with: Data(count: (256 << 20) + 1))
    }
    #expect(access(path, F_OK) != 0)
  }
}
