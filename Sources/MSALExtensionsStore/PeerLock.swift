import CGLib
package import GLibSupport
import Glibc
import StoreSupport
import Synchronization
package import TokenCache

/// The lock files of a cache that programs in other languages also use.
///
/// MSAL for Python and Node hold a lock by the existence of its file; .NET, Go and, with portalocker, Python
/// hold `flock(2)` on it; Java makes its file and then locks it in another way. This lock makes the file, or
/// takes over a file whose holder is dead, and holds `flock` on it. So it excludes them all, and the file of a
/// killed program blocks no program.
package final class PeerLock: Sendable {
  private let held: [HeldFile]
  private let since: ContinuousClock.Instant
  private let isReleased = Atomic(false)

  /// Takes locks, in the order given. The directories of the files are made, closed to others, if they do not exist. The error
  /// text names the `users` of the files.
  ///
  /// - Throws: ``CacheError/Code/timedOut`` that names the holder, ``CacheError/Code/cancelled``, and
  ///   ``CacheError/Code/unavailable`` when a file cannot be made.
  package init(
    _ paths: [String], users: String, timeout: Duration, _ cancellable: Cancellable
  ) throws(CacheError) {
    let end = min(ContinuousClock.now + timeout, cancellable.deadline)
    Self.yieldToOthers(at: paths)
    var held: [HeldFile] = []
    do {
      for path in paths { held.append(try Self.take(path, users: users, until: end, cancellable)) }
    } catch {
      held.reversed().forEach { $0.release() }
      throw error
    }
    self.held = held
    since = .now
  }

  deinit { release() }

  /// Whether the files still exist: msal-node-extensions may remove them while others hold them.
  package var isStillHeld: Bool { held.allSatisfy(\.isNamed) }

  /// Removes the files and releases the locks; does nothing the second time.
  package func release() {
    if isReleased.exchange(true, ordering: .acquiringAndReleasing) { return }
    held.reversed().forEach { $0.release() }
    let now = ContinuousClock.now
    // Python checks every 250 ms and gives up after 5 s: a process that takes the lock again and again must leave it
    // more time than it takes.
    let backoff = min((now - since) * 2, .milliseconds(500))
    Self.backoffUntil.withLock { backoffUntil in
      backoffUntil = backoffUntil.filter { $0.value > now }
      for file in held { backoffUntil[file.path] = now + backoff }
    }
  }

  /// Removes the files of all locks that this process holds, because it is about to be ended: MSAL for Python and Node wait for
  /// a file that a dead process has left.
  package static func removeAllFiles() {
    // Not for ever: a call to a file system that hangs may have the lock.
    for _ in 0..<1000 {
      let isDone: Void? = HeldFile.present.withLockIfAvailable { files in
        for file in files?.values ?? [:].values where file.isNamed { _ = unsafe unlink(file.path) }
        files = nil
      }
      if isDone != nil { return }
      usleep(1000)
    }
  }

  /// The dead holder of a stale lock file; `nil` if there is no file, or its holder is or may be alive.
  static func deadHolder(of path: String) -> LockHolder? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let holder = LockHolder(FileContents.text(of: descriptor))
    guard !holder.isHolding(since: status.st_mtim.tv_sec, path) else { return nil }
    // The file of a live holder may still be empty. Shared, so that two programs that check get the same result.
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return nil }
    return holder
  }

  /// Until when this process leaves a lock to other programs.
  private static let backoffUntil = Mutex<[String: ContinuousClock.Instant]>([:])

  private static func yieldToOthers(at paths: [String]) {
    let until = backoffUntil.withLock { until in paths.compactMap { until[$0] }.max() }
    if let until { pause(until - .now) }
  }

  private static func take(
    _ path: String, users: String, until end: ContinuousClock.Instant, _ cancellable: Cancellable
  ) throws(CacheError) -> HeldFile {
    var wait = Duration.milliseconds(1)
    while true {
      let holder: LockHolder
      switch try HeldFile.attempt(path) {
      case .taken(let file): return file
      case .held(let by): holder = by
      }
      if cancellable.isCancelled { throw CacheError(.cancelled, "The wait for a lock was cancelled.") }
      guard .now < end else {
        throw CacheError(
          .timedOut, "The cache of \(users) is in use: \(holder.description) holds \(path).",
          advice: "Try again when it has finished, or end that program if it hangs.")
      }
      // Short, because MSAL for Python releases the lock only for a moment; random, so that not all try at once.
      pause(min(wait, end - .now) * Double.random(in: 0.5...1))
      wait = min(wait * 2, .milliseconds(10))
    }
  }

  private static func pause(_ duration: Duration) {
    usleep(useconds_t(max(duration / .microseconds(1), 0)))
  }
}

/// The holder that a lock file names.
package struct LockHolder: Sendable, Equatable {
  /// `nil` if the file does not name it.
  package let pid: Int32?
  /// The program's name in the file.
  package let program: String

  /// Reads the first line of a lock file: `123 name`, `{123} {name}` or `123`, after a byte-order mark in
  /// .NET.
  package init(_ text: String) {
    let line = text.drop { $0 == "\u{FEFF}" }.prefix { !$0.isNewline }
    let words = line.split(separator: " ", maxSplits: 1).map { word in
      word.filter { $0 != "{" && $0 != "}" }
    }
    pid = words.first.flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
    program = words.count > 1 ? String(words[1].prefix(80)) : ""
  }

  package var description: String {
    let name = program.isEmpty ? "" : " (\(program))"
    return pid.map { "process \($0)\(name)" } ?? "another program"
  }

  /// What this process writes into a lock file.
  fileprivate static var ownText: String { "\(getpid()) \(processArguments.first ?? "")" }

  /// After how many seconds a file that names no holder counts as stale.
  private static let silence = 2

  /// For how many seconds a file counts as held that another machine or an invisible container may hold: the process ID
  /// means nothing here, and the other libraries hold their locks only for moments.
  private static let remoteSilence = 120

  /// Whether a file of this age, without a `flock`, may be held by its existence.
  func isHolding(since moment: Int, _ path: String) -> Bool {
    let isOnMachine = FileSharing(of: path) == .machine
    // This program holds its locks by flock, too: the first process of a container that was started again.
    if isOnMachine, self == LockHolder(Self.ownText) { return false }
    if time(nil) < moment + Self.remoteSilence, !isOnMachine || ProcessStatus.mayBeHidden(usersOf: path) {
      return true
    }
    guard let pid else { return time(nil) < moment + Self.silence }
    // Here or in a container. What this process holds has its flock.
    return pid != getpid() && Self.isAlive(pid, writtenAt: moment)
      || ProcessStatus.nested(numbered: pid).contains { Self.isAlive($0, writtenAt: moment) }
  }

  /// Whether a holder is alive. A process that started after the file was written only reuses its ID.
  private static func isAlive(_ pid: Int32, writtenAt moment: Int) -> Bool {
    guard kill(pid, 0) == 0 || errno == EPERM else { return false }
    guard let status = ProcessStatus(pid), let boot = bootTime else { return true }
    let seconds = Int(clamping: status.start) / sysconf(Int32(_SC_CLK_TCK))
    return !status.isZombie && boot + seconds <= moment + 2
  }

  /// When the system started, in seconds since 1970.
  private static var bootTime: Int? {
    let text = (try? readFile("/proc/stat", limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    return text?.split(separator: "\n").first { $0.hasPrefix("btime ") }
      .flatMap { Int($0.dropFirst("btime ".count)) }
  }
}

/// A lock file that this process holds.
private struct HeldFile: Sendable {
  enum Attempt {
    case taken(HeldFile)
    case held(LockHolder)
    /// Another program changed the file meanwhile.
    static let changed = held(LockHolder(""))
  }

  let path: String
  private let descriptor: Int32

  /// All that this process holds, by their paths; `nil` when it is about to be ended, and takes none any more.
  static let present = Mutex<[String: HeldFile]?>([:])

  static func attempt(_ path: String) throws(CacheError) -> Attempt {
    try FileContents.makeDirectory(of: path)
    // The process cannot be ended with a file that is not among these yet.
    return try present.withLock { (present) throws(CacheError) in
      guard present != nil else { return .changed }
      let attempt = try taking(path)
      if case .taken(let file) = attempt { present?[path] = file }
      return attempt
    }
  }

  private static func taking(_ path: String) throws(CacheError) -> Attempt {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    var descriptor = unsafe open(path, flags | O_CREAT | O_EXCL, 0o600)
    let isOurs = descriptor >= 0
    if !isOurs && errno == EEXIST { descriptor = unsafe open(path, flags) }
    guard descriptor >= 0 else {
      if errno == ENOENT { return .changed }
      throw FileContents.failure("locked", path)
    }
    let file = HeldFile(path: path, descriptor: descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw CacheError(
        .unavailable, "\(path) is not a regular file, so it cannot be locked.",
        advice:
          "Check what it is with \"ls -ld \(shellQuoted(path))\", and move it away if no program needs it.")
    }
    let holder = LockHolder(FileContents.text(of: descriptor))
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      if isOurs && code != EWOULDBLOCK { unsafe unlink(path) }
      close(descriptor)
      if code == EWOULDBLOCK { return .held(holder) }
      throw CacheError(.system(call: "flock", path: path, code: code), "The lock file cannot be used.")
    }
    guard file.isNamed else {
      close(descriptor)
      return .changed
    }
    if !isOurs {
      // The contents before we got the lock; they may have been written since.
      let holder = LockHolder(FileContents.text(of: descriptor))
      unsafe fstat(descriptor, &status)
      let written = status.st_mtim.tv_sec
      if holder.isHolding(since: written, path) {
        close(descriptor)
        return .held(holder)
      }
    }
    let text = Array(LockHolder.ownText.utf8)
    ftruncate(descriptor, 0)
    _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    return .taken(file)
  }

  var isNamed: Bool { isFile(path, openAs: descriptor) }

  /// Removes the file before releasing the lock, so that no program gets the lock of a deleted file.
  func release() {
    if isNamed { unsafe unlink(path) }
    Self.present.withLock { if $0?[path]?.descriptor == descriptor { $0?[path] = nil } }
    close(descriptor)
  }
}
