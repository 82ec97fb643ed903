package import CGLib
package import Dispatch

/// A `GCancellable` together with the deadline of the operation.
package final class Cancellable: Sendable {
  package let deadline: ContinuousClock.Instant
  private let object = GObjectReference<GCancellable>(taking: g_cancellable_new())

  package init(timeout: Duration) { deadline = .now + timeout }

  /// GCancellable's functions are safe to call from any thread.
  package var pointer: UnsafeMutablePointer<GCancellable> { object.pointer }

  package func cancel() { g_cancellable_cancel(pointer) }

  package var isCancelled: Bool { g_cancellable_is_cancelled(pointer) != 0 }

  package var isPastDeadline: Bool { deadline <= .now }

  /// The time left for a GDBus call, in milliseconds: never 0 or less (−1 would mean its default).
  package var remainingMilliseconds: Int32 {
    let milliseconds = (deadline - .now) / .milliseconds(1)
    return Int32(min(max(milliseconds.rounded(.up), 1), Double(Int32.max - 1)))
  }

  /// Cancels this object when the deadline passes, for calls that take no timeout, until the returned closure is called.
  package func enforceDeadline() -> () -> Void {
    let deadline = Deadlines.add(deadline) { [self] in cancel() }
    return { Deadlines.remove(deadline) }
  }

  /// Waits until `semaphore` is signalled, this object is cancelled or the deadline passes.
  /// - Returns: Whether the semaphore was signalled.
  package func wait(for semaphore: DispatchSemaphore) -> Bool {
    // The handler holds the semaphore; GLib releases it when the handler is disconnected.
    let handler = g_cancellable_connect(
      pointer,
      unsafeBitCast(wakeUpWaiter, to: GCallback.self),
      Unmanaged.passRetained(semaphore).toOpaque(),
      { data in data.map { Unmanaged<DispatchSemaphore>.fromOpaque($0).release() } })
    defer { if handler != 0 { g_cancellable_disconnect(pointer, handler) } }
    let time = DispatchTime.now() + .milliseconds(Int(remainingMilliseconds))
    return semaphore.wait(timeout: time) == .success && !isCancelled
  }
}

private typealias CancelledHandler = @convention(c) (UnsafeMutablePointer<GCancellable>?, gpointer?) -> Void

private let wakeUpWaiter: CancelledHandler = { _, data in
  if let data { Unmanaged<DispatchSemaphore>.fromOpaque(data).takeUnretainedValue().signal() }
}
