import GLibSupport
import Synchronization
import TokenCache

/// Lets the tasks of one process go on one after the other.
final class Turns: Sendable {
  private final class Waiter: Sendable {
    let call: BoundedCall<Void, CacheError>

    init(_ call: BoundedCall<Void, CacheError>) { self.call = call }
  }

  private struct State {
    var isTaken = false
    /// Whose turn it is, where it had to wait for it.
    var holder: Waiter?
    var waiting: [Waiter] = []
  }

  private let state = Mutex(State())

  /// Runs work when it is its turn.
  func run<T, E: Error>(
    timeout: Duration, orThrow map: (CacheError) -> E, work: () async throws(E) -> T
  ) async throws(E) -> T {
    do {
      try await take(timeout)
    } catch {
      throw map(error)
    }
    defer { pass() }
    return try await work()
  }

  private func take(_ timeout: Duration) async throws(CacheError) {
    let isFree = state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
    if isFree { return }
    let waiter = Waiter(
      BoundedCall(
        timeout: timeout, onCancel: CacheError(.cancelled, "The call to etcd was cancelled."),
        onTimeout: CacheError(
          .timedOut, "Others of this program's tasks kept the group busy for too long.", advice: "Try again.")
      ))
    do throws(CacheError) {
      try await waiter.call.run(abandon: {}) { call in
        let isFree = state.withLock { state in
          guard !state.isTaken else {
            state.waiting.append(waiter)
            return false
          }
          (state.isTaken, state.holder) = (true, waiter)
          return true
        }
        if isFree { call.finish(.success(())) }
      }
    } catch {
      // Who gave up may have been given its turn at the same moment.
      let isHolder = state.withLock { state in
        state.waiting.removeAll { $0 === waiter }
        return state.holder === waiter
      }
      if isHolder { pass() }
      throw error
    }
  }

  private func pass() {
    let next: Waiter? = state.withLock { state in
      state.isTaken = !state.waiting.isEmpty
      state.holder = state.isTaken ? state.waiting.removeFirst() : nil
      return state.holder
    }
    next?.call.finish(.success(()))
  }
}
