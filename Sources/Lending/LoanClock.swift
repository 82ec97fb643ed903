import FoundationEssentials

/// Decides when a loan has ended: when its end has come on the clock, or its duration has passed, a suspended machine's
/// time included. A clock that is put back does not make it longer.
struct LoanClock: Sendable {
  private let end: Date
  private let duration: Duration
  private let start: Duration
  private let now: @Sendable () -> Date
  private let uptime: @Sendable () -> Duration

  /// The uptime is the time since some moment, that of a suspended machine included.
  init(end: Date, now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Duration) {
    self.end = end
    self.now = now
    self.uptime = uptime
    start = uptime()
    duration = .seconds(end.timeIntervalSince(now()))
  }

  var age: Duration { uptime() - start }

  var remaining: Duration { min(duration - age, .seconds(end.timeIntervalSince(date))) }

  var isExpired: Bool { remaining <= .zero }

  var date: Date { now() }
}
