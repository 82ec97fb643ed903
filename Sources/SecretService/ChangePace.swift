import CGLib
import GLibSupport
import Glibc

/// The times of changes in KeePassXC, which all programs of this user keep to.
///
/// KeePassXC saves its file 150 ms after a change, and crashes on another change while it writes. So changes come in
/// bursts that end before that, with time to save in between; a database takes a second to open by default, and as long
/// to be saved. That time begins with the end of a change, which may have waited for a prompt.
///
/// The times stand in a file of the runtime directory: commands in turn follow each other faster than KeePassXC saves. Where
/// there can be no such file, nothing waits.
struct ChangePace {
  static let fileName = "keepassxc-changes"
  private static let (burst, pause) = (100_000_000 as Int64, 1_500_000_000 as Int64)

  private let directory = RuntimeDirectory(environment: processEnvironment()).path

  /// In nanoseconds of the system's monotonic clock: the start of the last burst, and the end of the last change.
  private struct Times {
    var start: Int64 = 0
    var last: Int64 = 0

    /// Whether KeePassXC may still save at the start of a change, which others may have followed. The file may be from
    /// before the last start of the system.
    func isRecent(at start: Int64) -> Bool { start - last < pause && last <= now() }
  }

  /// Waits until a change may begin. What comes from KeePassXC, as far as is known, begins a burst.
  ///
  /// - Returns: Now, for ``end(_:)``.
  func begin(isKeePassXC: Bool) -> Int64 {
    while true {
      var (start, wait) = (Self.now(), 0 as Int64)
      withTimes(isNew: isKeePassXC) { times in
        start = Self.now()
        if !times.isRecent(at: start) {
          if isKeePassXC { times = Times(start: start, last: start) }
        } else if start - times.start > Self.burst {
          wait = times.last + Self.pause - start
        }
      }
      guard wait > 0 else { return start }
      // Others may note the end of a change meanwhile.
      g_usleep(UInt(wait / 1000 + 1))
    }
  }

  /// Notes the end of a change in KeePassXC that began at a time.
  func end(_ start: Int64) {
    withTimes(isNew: true) { times in
      if !times.isRecent(at: start) { times.start = start }
      times.last = Self.now()
    }
  }

  /// Changes the times while no other process or thread does. Without `isNew` no file is made.
  private func withTimes(isNew: Bool, _ body: (inout Times) -> Void) {
    let folder =
      isNew ? try? PrivateDirectory.made(at: directory) : try? PrivateDirectory.existing(at: directory)
    guard let folder, isNew || folder.modification(of: Self.fileName) != nil,
      let file = try? folder.open(Self.fileName)
    else { return }
    defer { close(file) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else { return }
    }
    var times = Times()
    let size = MemoryLayout<Times>.size
    // An empty file is a new one.
    _ = pread(file, &times, size, 0)
    body(&times)
    _ = pwrite(file, &times, size, 0)
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
