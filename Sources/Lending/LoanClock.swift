import FoundationEssentials

/// Decides when a loan has ended: when its end has come on the clock, or its duration has passed, a suspended machine's
/// time included. A clock that is put back does not make it longer.
struct LoanClock: Sendable {
  let end: Date
  private let duration: Duration
  private let now: @Sendable () -> Date
  private let uptime: @Sendable () -> Duration

  /// - Parameters:
  ///   - duration: How long the loan lasts.
  ///   - now: The clock.
  ///   - uptime: The time since some moment, that of a suspended machine included.
  init(
    _ duration: Duration, now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Duration
  ) {
    let start = uptime()
    self.duration = duration
    self.now = now
    self.uptime = { uptime() - start }
    end = now() + duration / .seconds(1)
  }

  var remaining: Duration {
    min(duration - uptime(), .seconds(end.timeIntervalSince(now())))
  }

  var isOver: Bool { remaining <= .zero }

  /// The time since the loan began.
  var age: Duration { uptime() }

  var date: Date { now() }
}
