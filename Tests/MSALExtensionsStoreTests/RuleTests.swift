import MSALExtensionsStore
import SecretService
import TestSupport

/// An item that a library for Python would make, which is all of a group.
private struct ItemFixture: StoreFixture {
  static let abilities: StoreAbilities = [.limit, .waiting]
  let group = KeychainGroup.default
  private let directory: TemporaryDirectory
  private let keyring: PrivateKeyring

  init() throws {
    directory = try TemporaryDirectory()
    keyring = try PrivateKeyring.shared.get()
  }

  func newStore(timeout: Duration) -> any CacheStore {
    MSALExtensionsCacheStore(
      .msalExtensions(location: directory.path + "/cache"), timeout: timeout, lockTimeout: timeout,
      client: SecretServiceConnection(busAddress: keyring.busAddress))
  }

  func damage(_ shard: ShardID) {}
}

@Suite(.timeLimit(.minutes(20)))
struct RuleTests {
  @Test(.fault("any store"), arguments: StoreRule.all(for: ItemFixture.self))
  func `The store keeps every store's rules`(_ rule: StoreRule) async throws {
    try await rule.check(ItemFixture())
  }
}
