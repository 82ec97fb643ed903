import PrivateSession
import StoreRules
public import Testing

/// Blocks scripted work until the test opens it.
public final class Gate: Sendable {
  private let isOpen = Watched(false)
  private let arrivals = AsyncStream<Void>.makeStream()

  public init() {}

  /// Announces an arrival, and returns when the gate is open.
  public func wait() async {
    arrivals.continuation.yield()
    await blocking { [isOpen] in isOpen.wait { $0 } }
  }

  /// Waits for the next arrival.
  public func arrival() async { for await _ in arrivals.stream { return } }

  public func open() { isOpen.change { $0 = true } }
}

/// Does the same with all elements at once, and returns the results in the order of their ends.
@discardableResult
public func atOnce<Elements: Sequence, Result: Sendable>(
  _ elements: Elements, _ work: @escaping @Sendable (Elements.Element) async throws -> Result
) async throws -> [Result] where Elements.Element: Sendable {
  try await withThrowingTaskGroup(of: Result.self) { group in
    for element in elements { group.addTask { try await work(element) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}

/// Waits until a condition without an event holds, by polling. Ends with its task.
///
/// - Throws: Where it does not hold within five minutes; a busy machine needs some seconds.
public func eventually(
  sourceLocation: SourceLocation = #_sourceLocation, _ holds: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(300)
  while try await !holds() {
    try #require(.now < end, "This has not come to hold in five minutes.", sourceLocation: sourceLocation)
    try await Task.sleep(for: .milliseconds(5))
  }
}

extension Child {
  /// Runs a program to its end on a thread of its own, since Swift's pool has few, for a program that this process serves.
  public static func runApart(
    _ program: String, _ arguments: [String], environment: [String: String] = plain
  ) async throws -> Result {
    try await blocking { try run(program, arguments, environment: environment) }
  }
}
