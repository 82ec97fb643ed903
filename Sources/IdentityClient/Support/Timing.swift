/// How the client waits and measures time: by a monotonic clock.
package struct Timing: Sendable {
  /// Waits. Throws if the task is cancelled.
  package var sleep: @Sendable (Duration) async throws -> Void
  /// The time since a fixed moment in the past.
  package var uptime: @Sendable () -> Duration
  /// How long to wait for another process that renews tokens of the same account: longer than most renewals take, and half of
  /// the ten seconds that the Azure SDKs give a program for a token. A stopped process leaves the rest for a request.
  let turn: Duration

  package init(
    sleep: @escaping @Sendable (Duration) async throws -> Void, uptime: @escaping @Sendable () -> Duration,
    turn: Duration = .seconds(5)
  ) {
    self.sleep = sleep
    self.uptime = uptime
    self.turn = turn
  }

  package static let system: Timing = {
    let start = ContinuousClock.now
    return Timing(sleep: { try await Task.sleep(for: $0) }, uptime: { ContinuousClock.now - start })
  }()

  /// Waits. Throws ``IdentityError/cancelled`` if the task is cancelled.
  func wait(_ duration: Duration) async throws(IdentityError) {
    do {
      try await sleep(duration)
    } catch {
      throw .cancelled
    }
  }
}
