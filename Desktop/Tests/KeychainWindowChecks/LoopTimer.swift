import CGTK
import Glibc

/// Measures how long GLib's loop works between two waits, by standing in for the call that waits.
enum LoopTimer {
  nonisolated(unsafe) private static var lastWait: UInt64 = 0
  /// The longest so far, in nanoseconds.
  nonisolated(unsafe) private(set) static var longest: UInt64 = 0
  nonisolated(unsafe) private(set) static var turns = 0

  @MainActor
  static func start() {
    g_main_context_set_poll_func(nil) { descriptors, count, timeout in
      LoopTimer.endTurn()
      defer { LoopTimer.lastWait = LoopTimer.now() }
      return g_poll(descriptors, count, timeout)
    }
  }

  /// Forgets what was measured.
  static func clear() { (longest, turns) = (0, 0) }

  static var milliseconds: Double { Double(longest) / 1e6 }

  private static func endTurn() {
    if lastWait > 0 { longest = max(longest, now() - lastWait) }
    turns += 1
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
