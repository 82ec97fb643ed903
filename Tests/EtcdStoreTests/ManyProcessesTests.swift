import EtcdStore
import TestSupport

/// What many processes that save into one group at once leave behind, and see of each other.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  @Test(.fault("many writers")) func `Eight processes that save 100 responses each lose none`() async throws {
    try await Fixture().saveByProcesses(8, saves: 100, accounts: 20)
  }

  @Test(.fault("many writers"))
  func `What was acknowledged stays although writers are killed all the time`() async throws {
    try await Fixture().saveByProcessesThatAreKilled()
  }

  @Test func `Processes that check every lookup see each other's changes at once`() async throws {
    let fixture = try Fixture()
    let cache = fixture.accessor(on: try fixture.store(watching: nil))
    try await CheckingFixture(fixture: fixture, cache: cache).saveInTurnsWithAnotherProcess()
  }

  @Test func `A thousand tasks save and read through one store`() async throws {
    try await Fixture().saveByAThousandTasks()
  }
}

/// The same with stores that ask for every lookup.
private struct CheckingFixture: SharedStoreFixture {
  static let abilities = Fixture.abilities
  let fixture: Fixture
  let cache: TokenCacheAccessor

  var group: KeychainGroup { fixture.group }

  func newStore(timeout: Duration) throws -> any CacheStore {
    try fixture.store(timeout: timeout, watching: nil)
  }

  func damage(_ shard: ShardID) async throws { try await fixture.damage(shard) }

  func worker(_ arguments: [String]) throws -> Worker {
    try fixture.worker(arguments, environment: ["CACHE_WORKER_CHECKS": "1"])
  }
}
