import EtcdStore
import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// Machines that would renew the tokens of one account at the same time.
@Suite(.timeLimit(.minutes(20)))
struct RenewalTests {
  private let fixture: Fixture
  private let token = SampleToken("one", account: 1)

  init() throws { fixture = try Fixture() }

  @Test func `One renews, and another waits until that is done`() async throws {
    let (one, other) = (try fixture.store(), try fixture.store())
    let (shard, group) = (fixture.shard(token), fixture.group)
    let turn = try #require(await one.renewalTurn(of: shard, in: group, within: .seconds(60)))
    #expect(await other.renewalTurn(of: shard, in: group, within: .milliseconds(300)) == nil)
    // Another account's renewal has nothing to do with it.
    let free = await other.renewalTurn(of: fixture.shard(2), in: group, within: .seconds(60))
    #expect(free != nil)
    async let next = other.renewalTurn(of: shard, in: group, within: .seconds(120))
    turn.end()
    #expect(await next != nil)
  }

  @Test func `Who waits goes on when the account has changed, and finds what the other has written`()
    async throws
  {
    let (one, other) = (try fixture.store(), try fixture.store())
    let (shard, group) = (fixture.shard(token), fixture.group)
    let cache = TokenCacheAccessor(store: other, group: group)
    #expect(try await !cache.finds(token))
    _ = try #require(await one.renewalTurn(of: shard, in: group, within: .seconds(60)))
    let saves = Task {
      for number in 0... {
        if Task.isCancelled { return }
        let saved = number == 0 ? token : SampleToken("t\(number)", account: 1)
        try await TokenCacheAccessor(store: one, group: group).save(saved)
      }
    }
    #expect(await other.renewalTurn(of: shard, in: group, within: .seconds(120)) == nil)
    saves.cancel()
    #expect(try await cache.finds(token))
  }
}
