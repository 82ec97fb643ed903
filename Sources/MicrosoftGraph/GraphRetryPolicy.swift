/// How long a client tries when Graph is overloaded.
///
/// Before the nth repetition it waits as long as Graph asks for, else 3·n² seconds, 180 at most.
public struct GraphRetryPolicy: Sendable, Hashable {
  /// How often a request is sent; 1 for no repetition.
  public var maximumTries: Int
  /// How long the waiting between the tries of one request may take together. A request that is told to wait longer
  /// gets the error at once.
  public var maximumWait: Duration

  public init(maximumTries: Int = 10, maximumWait: Duration = .seconds(180)) {
    self.maximumTries = maximumTries
    self.maximumWait = maximumWait
  }
}

/// What is left of a policy.
struct RetryBudget {
  let policy: GraphRetryPolicy
  /// How many repetitions there were.
  private(set) var repetitions = 0
  private var waited: Duration = .zero

  init(_ policy: GraphRetryPolicy) { self.policy = policy }

  /// Begins the next repetition.
  ///
  /// - Parameter seconds: How long Graph wants to be left alone.
  /// - Returns: How long to wait first; `nil` where there is no repetition.
  mutating func pause(_ seconds: Double?) -> Duration? {
    let number = repetitions + 1
    let pause = Duration.seconds(seconds ?? Double(min(3 * number * number, 180)))
    guard number < policy.maximumTries, waited + pause <= policy.maximumWait else { return nil }
    repetitions = number
    waited += pause
    return pause
  }

  /// Whether a request with this answer may fare better later.
  ///
  /// A request is not carried out that gets 429 or 503. Behind 504 it may have been; then a mail, for example,
  /// would be sent twice.
  static func mayRepeat(status: Int, isRepeatable: Bool) -> Bool {
    status == 429 || status == 503 || status == 504 && isRepeatable
  }
}
