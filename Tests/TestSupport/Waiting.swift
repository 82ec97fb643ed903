import Synchronization

/// Blocks scripted work until the test opens it.
public final class Gate: Sendable {
  private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))
  private let arrivals = AsyncStream<Void>.makeStream()

  public init() {}

  /// Announces an arrival, and returns when the gate is open.
  public func wait() async {
    arrivals.continuation.yield()
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits for the next arrival.
  public func arrival() async { for await _ in arrivals.stream { return } }

  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// Waits until a condition without an event holds, by polling. Ends with its task.
public func eventually(_ holds: () async throws -> Bool) async throws {
  while try await !holds() { try await Task.sleep(for: .milliseconds(5)) }
}
