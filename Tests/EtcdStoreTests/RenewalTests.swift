import Dispatch
import EtcdStore
import TestSupport

/// Waits for a minute, and so holds its thread.
private func blockingWait(for end: DispatchSemaphore) -> Bool { end.wait(timeout: .now() + 60) == .success }

/// Machines that would renew the tokens of one account at the same time.
@Suite(.timeLimit(.minutes(20)))
struct RenewalTests {
  private let fixture: Fixture
  private let token = SampleToken("one", account: 1)

  init() throws { fixture = try Fixture() }

  /// A transport that counts the leases that etcd gave, and those that it has taken back.
  private final class Leases: Sendable {
    let granted = Atomic(0)
    let revoked = Atomic(0)
    let tries = Atomic(0)
    let firstDone = Atomic(false)

    var isFirstDone: Bool { firstDone.load(ordering: .relaxed) }

    var transport: MeddlingTransport {
      MeddlingTransport { (request, send) throws(HTTPTransportError) in
        let response = try await send(request)
        switch request.head.path {
        case "/v3/lease/grant": self.granted.add(1, ordering: .relaxed)
        case "/v3/lease/revoke": self.revoked.add(1, ordering: .relaxed)
        default: self.tries.add(1, ordering: .relaxed)
        }
        return response
      }
    }

    var open: Int { granted.load(ordering: .relaxed) - revoked.load(ordering: .relaxed) }
  }

  private func turn(_ shard: ShardID) async throws -> [UInt8]? {
    try await fixture.value("\(fixture.prefix)/renewals/\(shard)")
  }

  /// As MSAL's methods do that are not async.
  @Test func `A turn ends while its callers hold every thread of the pool`() async throws {
    let store = try fixture.store()
    let ends = try await atOnce(1..<65) { [fixture] number in
      let end = DispatchSemaphore(value: 0)
      Task(executorPreference: QueueExecutor()) {
        await store.withRenewalTurn(of: fixture.shard(number), in: fixture.group, within: .seconds(60)) {}
        end.signal()
      }
      return blockingWait(for: end)
    }
    #expect(ends.allSatisfy { $0 })
  }

  @Test(.fault("one renews")) func `One renews, and another waits until that is done`() async throws {
    let leases = Leases()
    let (one, other) = (try fixture.store(), try fixture.store(through: leases.transport))
    let (shard, group) = (fixture.shard(token), fixture.group)
    let next = try await one.withRenewalTurn(of: shard, in: group, within: .seconds(600)) { () async throws in
      #expect(try await turn(shard) != nil)
      // Another account's renewal has nothing to do with it.
      try await other.withRenewalTurn(of: fixture.shard(2), in: group, within: .seconds(600)) {
        () async throws in #expect(try await turn(fixture.shard(2)) != nil)
      }
      let tries = leases.tries.load(ordering: .relaxed)
      let next = Task {
        await other.withRenewalTurn(of: shard, in: group, within: .seconds(120)) { leases.isFirstDone }
      }
      try await eventually { leases.tries.load(ordering: .relaxed) >= tries + 2 }
      leases.firstDone.store(true, ordering: .relaxed)
      return next
    }
    #expect(await next.value)
  }

  @Test(.fault("one renews"))
  func `A waiting call continues when another has changed the account, and finds that`() async throws {
    let leases = Leases()
    let (one, other) = (try fixture.store(), try fixture.store(through: leases.transport))
    let (shard, group) = (fixture.shard(token), fixture.group)
    let cache = TokenCacheAccessor(store: other, group: group)
    #expect(try await !cache.finds(token))
    try await one.withRenewalTurn(of: shard, in: group, within: .seconds(600)) { () async throws in
      let holder = try await turn(shard)
      let saves = Task {
        for number in 0... {
          if Task.isCancelled { return }
          let saved = number == 0 ? token : SampleToken("t\(number)", account: 1)
          try await TokenCacheAccessor(store: one, group: group).save(saved)
        }
      }
      try await other.withRenewalTurn(of: shard, in: group, within: .seconds(120)) { () async throws in
        #expect(leases.open == 0)
        #expect(try await turn(shard) == holder)
        #expect(try await cache.finds(token))
      }
      saves.cancel()
    }
  }

  @Test(.requirement("R16.1"), .fault("turn ends"))
  func `A turn ends with its call, also after an error and a cancellation`() async throws {
    let leases = Leases()
    let store = try fixture.store(through: leases.transport)
    let (shard, group) = (fixture.shard(token), fixture.group)
    await store.withRenewalTurn(of: shard, in: group, within: .seconds(600)) { #expect(leases.open == 1) }
    #expect(leases.open == 0)
    await expectCacheError(.refused) {
      try await store.withRenewalTurn(of: shard, in: group, within: .seconds(600)) {
        () async throws(CacheError) in
        #expect(leases.open == 1)
        throw CacheError(.refused, "")
      }
    }
    #expect(leases.open == 0)
    let task = Task {
      await store.withRenewalTurn(of: shard, in: group, within: .seconds(600)) {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
      }
    }
    try await eventually { try await turn(shard) != nil }
    task.cancel()
    await task.value
    #expect(leases.open == 0)
    #expect(try await turn(shard) == nil)
  }

  @Test(.fault("turn ends"))
  func `A call that stops waiting renews without a turn, and leaves no lease`() async throws {
    let leases = Leases()
    let (one, other) = (try fixture.store(), try fixture.store(through: leases.transport))
    let (shard, group) = (fixture.shard(token), fixture.group)
    await one.withRenewalTurn(of: shard, in: group, within: .seconds(600)) {
      await other.withRenewalTurn(of: shard, in: group, within: .milliseconds(300)) {}
      #expect(leases.open == 0)
      let tries = leases.tries.load(ordering: .relaxed)
      let task = Task {
        await other.withRenewalTurn(of: shard, in: group, within: .seconds(120)) { Task.isCancelled }
      }
      try? await eventually { leases.tries.load(ordering: .relaxed) > tries }
      task.cancel()
      #expect(await task.value)
      #expect(leases.open == 0)
    }
  }
}
