/// How long a client retries when Graph is overloaded.
///
/// Before the nth repetition it waits for Retry-After, else 3·n² seconds, at most 180.
public struct GraphRetryPolicy: Sendable, Hashable {
  /// The maximum number of attempts; 1 for no repetition.
  public var maximumTries: Int
  /// The maximum sum of the pauses of one request. A longer Retry-After is an error at once.
  public var maximumWait: Duration

  public init(maximumTries: Int = 10, maximumWait: Duration = .seconds(180)) {
    self.maximumTries = maximumTries
    self.maximumWait = maximumWait
  }
}

/// The rest of a policy's attempts and pauses.
struct RetryBudget {
  let policy: GraphRetryPolicy
  private(set) var repetitions = 0
  private var waited: Duration = .zero

  init(_ policy: GraphRetryPolicy) { self.policy = policy }

  /// Starts the next repetition, and returns the pause before it; `nil` without one. The seconds are those of Retry-After.
  mutating func pause(_ seconds: Double?) -> Duration? {
    let number = repetitions + 1
    let pause = Duration.seconds(seconds ?? Double(min(3 * number * number, 180)))
    guard number < policy.maximumTries, waited + pause <= policy.maximumWait else { return nil }
    repetitions = number
    waited += pause
    return pause
  }

  /// Whether a request with this response may be repeated.
  ///
  /// A request with 429 or 503 was not carried out. One with 504 may have been: a mail, for example, would be sent
  /// twice.
  static func mayRepeat(status: Int?, isRepeatable: Bool) -> Bool {
    status == 429 || status == 503 || status == 504 && isRepeatable
  }
}
