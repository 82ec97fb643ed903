import CGTK
import Glibc

/// Measures how long GLib's loop works between two waits, by standing in for the call that waits: the processor time of the
/// first thread, in nanoseconds, which does not grow while other programs run.
enum LoopTimer {
  nonisolated(unsafe) private static var lastWait: UInt64 = 0
  nonisolated(unsafe) private(set) static var longest: UInt64 = 0

  @MainActor
  static func start() {
    lastWait = now()
    g_main_context_set_poll_func(nil) { descriptors, count, timeout in
      let end = LoopTimer.now()
      LoopTimer.longest = max(LoopTimer.longest, end - LoopTimer.lastWait)
      defer { LoopTimer.lastWait = LoopTimer.now() }
      return g_poll(descriptors, count, timeout)
    }
  }

  /// Forgets what was measured.
  static func clear() { longest = 0 }

  static func text(_ time: UInt64) -> String { "\(time / 1_000_000).\(time / 100_000 % 10) ms" }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
