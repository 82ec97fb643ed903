import Dispatch
import Synchronization

/// Calls closures when deadlines pass, all with one timer: libdispatch's own thread wakes up each time a timer is set or
/// cancelled.
enum Deadlines {
  private struct State {
    var pending: [UInt64: (deadline: ContinuousClock.Instant, action: @Sendable () -> Void)] = [:]
    var lastNumber: UInt64 = 0
    /// For when the timer is set.
    var wakesAt: ContinuousClock.Instant?
  }

  private static let state = Mutex(State())

  // Dispatch sources may be used from any thread.
  nonisolated(unsafe) private static let timer: any DispatchSourceTimer = {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler { wakeUp() }
    timer.resume()
    return timer
  }()

  /// Calls `action` on another thread when the deadline has passed, unless the returned number is removed before.
  static func add(
    _ deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> UInt64 {
    state.withLock { state in
      state.lastNumber += 1
      state.pending[state.lastNumber] = (deadline, action)
      // A timer that should have fired is late: its clock stands still while the machine sleeps. Set for the first deadline:
      // to set it again takes back that it is due.
      if state.wakesAt.map({ deadline < $0 || $0 <= .now }) ?? true {
        setTimer(state.pending.values.map(\.deadline).min() ?? deadline, &state)
      }
      return state.lastNumber
    }
  }

  static func remove(_ number: UInt64) {
    // The action is released without the lock.
    _ = state.withLock { $0.pending.removeValue(forKey: number) }
  }

  private static func setTimer(_ time: ContinuousClock.Instant, _ state: inout State) {
    state.wakesAt = time
    timer.schedule(deadline: .now() + max((time - .now) / .seconds(1), 0))
  }

  private static func wakeUp() {
    state.withLock { state in
      let now = ContinuousClock.now
      for (number, call) in state.pending where call.deadline <= now {
        state.pending[number] = nil
        DispatchQueue.global().async(execute: call.action)
      }
      state.wakesAt = nil
      if let next = state.pending.values.map(\.deadline).min() { setTimer(next, &state) }
    }
  }
}
