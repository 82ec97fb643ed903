import EtcdStore
import Sealing
import SecretService
import TestSupport

/// What takes minutes; `Tests/trials` runs it.
@Suite(.serialized, .enabled(if: getenv("LLAVERO_TRIALS") != nil, "Tests/trials runs it"))
struct ClusterTrials {
  @Test(.fault("leader killed"))
  func
    `Sixteen processes that save 200 responses each lose none although the leader is killed repeatedly`()
    async throws
  {
    let cluster = try EtcdCluster()
    let fixture = try ClusterFixture(cluster)
    let start = ContinuousClock.now
    let writers = try (0..<16).map { try fixture.worker("save", fixture.group.name, "w\($0)", "200", "20") }
    let killed = Atomic(0)
    let killer = Task {
      while true {
        // Each time when more was saved.
        let saved = try await fixture.savedNames().count
        try await eventually { try await fixture.savedNames().count >= saved + 100 }
        let leader = try cluster.leader()
        cluster.kill(leader)
        killed.add(1, ordering: .relaxed)
        _ = try cluster.leader()
        try cluster.start(leader)
      }
    }
    let acknowledged = await fixture.acknowledged(by: writers)
    let time = ContinuousClock.now - start
    killer.cancel()
    // It may be in the middle of a kill.
    _ = await killer.result
    let times = killed.load(ordering: .relaxed)
    #expect(times > 0)
    #expect(acknowledged.count == 16 * 200)
    #expect(try await fixture.savedNames() == Set(acknowledged))
    print("\(acknowledged.count) saves in \(time), the leader was killed \(times) times")
  }

  @Test(.fault("restored"))
  func `A snapshot that is restored on all nodes as the article says is complete`() async throws {
    let article = try String(
      decoding: Data(
        contentsOf: SharedFiles.repository.appending(path: "Documentation/Llavero.docc/SeveralMachines.md")),
      as: UTF8.self)
    let recipe = try #require(
      article.split(separator: "```sh\n").first { $0.contains("etcdctl snapshot restore") }?.split(
        separator: "```"
      )
      .first)
    let cluster = try EtcdCluster()
    let fixture = try ClusterFixture(cluster)
    let (before, after, later) = (
      SampleToken("before", account: 1), SampleToken("after", account: 1), SampleToken("later", account: 2)
    )
    try await fixture.cache.save(before)
    try cluster.saveSnapshot(to: cluster.directory + "/llavero.db")
    try await fixture.cache.save(after)
    for node in 0..<3 { cluster.kill(node) }
    for node in 0..<3 {
      try cluster.run(String(recipe), for: node, in: cluster.directory)
      try cluster.start(node)
    }
    _ = try cluster.leader()
    let cache = fixture.accessor(on: try fixture.store())
    #expect(try await cache.finds(before))
    #expect(try await !cache.finds(after))
    try await cache.save(later)
    for endpoint in cluster.endpoints {
      let store = try fixture.store(at: [endpoint])
      #expect(try await fixture.accessor(on: store).finds(later))
    }
    // A store that was open before reports it.
    let error = await expectCacheError(.refused) { try await fixture.cache.save(after) }
    #expect(error?.message.contains("was recreated") == true)
  }

  @Test(.fault("no leader")) func `A cluster that has no leader for a minute is waited for`() async throws {
    let fixture = try Fixture()
    let refusals = Atomic(0)
    let store = try fixture.checkingStore(timeout: .seconds(600)) {
      (request, send) throws(HTTPTransportError) in
      guard refusals.add(1, ordering: .relaxed).newValue > 80 else {
        let body = #"{"error":"etcdserver: no leader","code":14}"#
        return .init(.init(status: .serviceUnavailable), body: Data(body.utf8))
      }
      return try await send(request)
    }
    try await fixture.accessor(on: store).save(SampleToken("one", account: 1))
    #expect(try await fixture.cache.finds(SampleToken("one", account: 1)))
  }

  @Test(.fault("slow password"))
  func `A person may take longer over the password than a call may take`() async throws {
    let cluster = try EtcdCluster()
    let fixture = try ClusterFixture(cluster)
    let user = EtcdUser(
      name: EtcdCluster.user,
      password: .passphrase { _ in
        sleep(22)
        return SecretBytes(copying: Array(EtcdCluster.password.utf8))
      })
    for call in [{ _ = try await $0.groups() }, { _ = try await $0.read(.all, in: fixture.group) }]
      as [@Sendable (EtcdCacheStore) async throws -> Void]
    {
      try await call(fixture.store(timeout: .seconds(20), user: user))
    }
  }
}
