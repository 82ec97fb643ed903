package import EntraLab
package import Testing

/// Gives each test, or each test of a suite, its own lab, and stops it afterwards.
package struct LabTrait: TestTrait, SuiteTrait, TestScoping {
  package let isRecursive = true

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let lab = try await Lab.start()
    do {
      try await Lab.$running.withValue(lab) { try await function() }
      await lab.stop()
    } catch {
      await lab.stop()
      throw error
    }
  }
}

extension Trait where Self == LabTrait {
  /// A lab for each test, which is `Lab.current`.
  package static var lab: Self { LabTrait() }
}

extension Lab {
  @TaskLocal fileprivate static var running: Lab?

  /// The lab of the test that runs.
  package static var current: Lab {
    guard let running else { preconditionFailure("The test lacks the trait .lab.") }
    return running
  }
}
