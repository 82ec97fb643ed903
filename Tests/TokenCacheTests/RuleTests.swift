import TestSupport

private struct MemoryFixture: StoreFixture {
  static let abilities: StoreAbilities = [.groups, .shards, .counter]
  let group = KeychainGroup.default
  private let store = InMemoryStore()

  func newStore(timeout: Duration) -> any CacheStore { store }

  func damage(_ shard: ShardID) {}
}

@Suite(.timeLimit(.minutes(20)))
struct RuleTests {
  @Test(.fault("any store"), arguments: StoreRule.all(for: MemoryFixture.self))
  func `The store keeps every store's rules`(_ rule: StoreRule) async throws {
    try await rule.check(MemoryFixture())
  }
}
