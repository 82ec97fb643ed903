import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct RuleTests {
  @Test(.fault("any store"), arguments: StoreRule.all(for: Fixture.self))
  func `The store keeps to what every store keeps to`(_ rule: StoreRule) async throws {
    try await rule.check(Fixture(provider: .chosen))
  }
}
