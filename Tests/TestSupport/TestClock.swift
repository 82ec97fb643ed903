import Foundation
package import IdentityClient
package import Synchronization

/// A clock that only moves during a wait, or when a test says so.
package final class TestClock: Sendable {
  private let state: Mutex<(now: Date, waits: [Duration])>
  /// Called in every wait, to do something meanwhile.
  package let onWait = Mutex<(@Sendable (Duration) async throws -> Void)?>(nil)

  /// How long a client waits for another process, on the machine's clock.
  private let turn: Duration

  /// A turn may come late on a busy machine.
  package init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000), turn: Duration = .seconds(600)) {
    state = Mutex((start, []))
    self.turn = turn
  }

  package var now: Date { state.withLock { $0.now } }
  package var waits: [Duration] { state.withLock { $0.waits } }

  /// The same in seconds.
  package var secondsWaited: [Double] { waits.map { $0 / .seconds(1) } }

  package func set(_ now: Date) { state.withLock { $0.now = now } }
  package func advance(_ seconds: Double) { state.withLock { $0.now += seconds } }

  package var timing: Timing {
    Timing(
      sleep: { duration in
        try Task.checkCancellation()
        self.state.withLock {
          $0.waits.append(duration)
          $0.now += duration / .seconds(1)
        }
        try await self.onWait.withLock { $0 }?(duration)
      }, uptime: { .seconds(self.now.timeIntervalSince1970) },
      turn: turn)
  }
}
