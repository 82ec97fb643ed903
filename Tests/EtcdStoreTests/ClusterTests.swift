import EtcdStore
import TestSupport

/// A cluster of three nodes, over TLS and with users, while nodes end, halt and lose each other.
@Suite(
  .serialized, .timeLimit(.minutes(20)), .enabled(if: getenv("LLAVERO_TRIALS") != nil, "Tests/trials runs it")
)
struct ClusterTests {
  private static let shared = Swift.Result { try EtcdCluster() }

  private let cluster: EtcdCluster
  private let fixture: ClusterFixture

  init() throws {
    cluster = try Self.shared.get()
    fixture = try ClusterFixture(cluster)
  }

  enum Fault: String, CaseIterable, CustomTestStringConvertible {
    case leaderKilled, leaderHalted, leaderCutOff, followerKilled, followerHalted, followerCutOff

    var testDescription: String { rawValue }
    private var isAboutLeader: Bool { rawValue.hasPrefix("leader") }

    /// Does it, and returns the node.
    func happen(to cluster: EtcdCluster) throws -> Int {
      let node = try isAboutLeader ? cluster.leader() : cluster.follower()
      switch self {
      case .leaderKilled, .followerKilled: cluster.kill(node)
      case .leaderHalted, .followerHalted: cluster.stop(node)
      case .leaderCutOff, .followerCutOff: cluster.isolate(node)
      }
      return node
    }

    func end(for node: Int, of cluster: EtcdCluster) throws {
      switch self {
      case .leaderKilled, .followerKilled: try cluster.start(node)
      case .leaderHalted, .followerHalted: cluster.go(on: node)
      case .leaderCutOff, .followerCutOff: cluster.reunite()
      }
      _ = try cluster.leader()
    }
  }

  @Test(.fault("node lost"), arguments: Fault.allCases)
  func `When one node fails, saves go on, and what was acknowledged is stored once`(
    _ fault: Fault
  ) async throws {
    // Each process begins at another node.
    let endpoints = cluster.endpoints
    /// How many saves were acknowledged to each writer.
    let saves = Watched([0, 0, 0])
    let writers = (0..<3).map { writer in
      Task {
        let store = try fixture.store(at: Array(endpoints[writer...] + endpoints[..<writer]))
        let cache = fixture.accessor(on: store)
        for number in 0..<40 {
          try await cache.save(SampleToken("w\(writer)-\(number)", account: number % 4))
          try await store.increment(0, of: fixture)
          saves.change { $0[writer] += 1 }
        }
      }
    }
    await blocking { saves.wait { $0.allSatisfy { $0 >= 3 } } }
    let node = try fault.happen(to: cluster)
    for writer in writers { try await writer.value }
    try fault.end(for: node, of: cluster)
    #expect(
      try await fixture.savedNames() == Set((0..<3).flatMap { w in (0..<40).map { "w\(w)-\($0)" } }))
    // Each was carried out once.
    #expect(try await fixture.store().increment(0, of: fixture) == 3 * 40 + 1)
  }

  @Test func `Each node runs the version that it was given`() async throws {
    let versions = try await fixture.store().members().map { try $0.get().version }
    for (node, version) in versions.enumerated() {
      let program = EtcdNode.programs[node % EtcdNode.programs.count]
      #expect(try Child.output(program, ["--version"]).hasPrefix("etcd Version: \(version)\n"))
    }
  }

  @Test(.requirement("R15.2"), .fault("node cut off"))
  func `A node that is cut off from the others gives no stale response`() async throws {
    try await fixture.store().increment(1, of: fixture)
    let node = try cluster.follower()
    let there = cluster.endpoints[node]
    #expect(try await fixture.store(at: [there]).numbers(of: fixture) == [1: 1])
    let shards = ShardSelection.some([fixture.shard(1)])
    let reader = try fixture.store(at: [there], timeout: .seconds(2))
    // However long that takes, so that what is waited for later is the others' consent alone.
    try await eventually { (try? await reader.read(shards, in: fixture.group)) != nil }
    cluster.isolate(node)
    defer { cluster.reunite() }
    _ = try cluster.leader(without: node)
    let others = cluster.endpoints.filter { $0 != there }
    #expect(try await fixture.store(at: others).increment(1, of: fixture) == 2)

    let alone = try fixture.store(at: [there], timeout: .seconds(2))
    await expectCacheError(.timedOut) { try await alone.read(.all, in: fixture.group) }
    await expectCacheError(.timedOut) { try await alone.increment(1, of: fixture) }
    await expectCacheError(.timedOut) { try await reader.read(shards, in: fixture.group) }
    // A client that knows the others continues there.
    #expect(try await fixture.store(at: [there] + others).increment(1, of: fixture) == 3)
    cluster.reunite()
    _ = try cluster.leader()
    #expect(try await fixture.store(at: [there]).numbers(of: fixture) == [1: 3])
  }

  @Test(.fault("no quorum"))
  func `Without a quorum a call fails, and works when there is one again`() async throws {
    let store = try fixture.store()
    try await store.increment(1, of: fixture)
    let leader = try cluster.leader()
    let killed = [leader, (leader + 1) % 3]
    for node in killed { cluster.kill(node) }
    let late = try fixture.store(timeout: .seconds(2))
    let error = await expectCacheError(.timedOut) { try await late.increment(1, of: fixture) }
    #expect(error?.advice?.contains("more than half of its members") == true)
    for node in killed { try cluster.start(node) }
    _ = try cluster.leader()
    let number = try await store.increment(1, of: fixture)
    // What was said to be unknown may have been written, but once.
    #expect([2, 3].contains(number))
    #expect(try await fixture.store().increment(1, of: fixture) == number + 1)
  }

  @Test(.fault("nodes restart"))
  func `Nodes that started again, and changed rights, cost no more than another sign-in`() async throws {
    let store = try fixture.store()
    #expect(try await store.increment(1, of: fixture) == 1)
    for node in 0..<3 {
      cluster.kill(node)
      try cluster.start(node)
      _ = try cluster.leader()
    }
    #expect(try await store.increment(1, of: fixture) == 2)
    try cluster.administrate("role", "grant-permission", "--prefix=true", "cache", "read", "/other/")
    #expect(try await store.increment(1, of: fixture) == 3)
  }

  @Test(.fault("lossy network"))
  func `A change whose response comes too late is made once`() async throws {
    let (relay, endpoint) = try cluster.relay(to: 0)
    defer { relay.close() }
    let store = try fixture.store(at: [endpoint, cluster.endpoints[1]])
    #expect(try await store.increment(1, of: fixture) == 1)
    relay.holdAnswers(true)
    #expect(try await store.increment(1, of: fixture) == 2)
    relay.holdAnswers(false)
    #expect(try await store.increment(1, of: fixture) == 3)
    relay.part(from: [""])
    #expect(try await store.increment(1, of: fixture) == 4)
    relay.part(from: [])
    relay.drop()
    #expect(try await store.increment(1, of: fixture) == 5)
    #expect(try await fixture.store().numbers(of: fixture) == [1: 5])
  }
}
