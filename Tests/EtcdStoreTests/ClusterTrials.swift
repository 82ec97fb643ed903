import Glibc
import Synchronization
import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// What takes minutes; `Tests/trials` runs it.
@Suite(.serialized, .enabled(if: getenv("LLAVERO_TRIALS") != nil, "Tests/trials runs it"))
struct ClusterTrials {
  @Test
  func
    `Sixteen processes that save 200 responses each lose none although the leader is killed every few seconds`()
    async throws
  {
    let cluster = try EtcdCluster()
    let fixture = try ClusterFixture(cluster)
    let start = ContinuousClock.now
    let writers = try (0..<16).map { try fixture.worker("save", fixture.group.name, "w\($0)", "200", "20") }
    let killer = Task {
      var killed = 0
      while (try? await Task.sleep(for: .seconds(3))) != nil {
        let leader = try cluster.leader()
        cluster.kill(leader)
        killed += 1
        _ = try cluster.leader()
        try cluster.start(leader)
      }
      return killed
    }
    var acknowledged: [String] = []
    for writer in writers {
      let (lines, status) = await writer.finish()
      #expect(status == 0)
      acknowledged += lines
    }
    let time = ContinuousClock.now - start
    killer.cancel()
    let killed = (try? await killer.value) ?? 0
    #expect(acknowledged.count == 16 * 200)
    #expect(try await fixture.savedNames() == acknowledged.sorted())
    print("\(acknowledged.count) saves in \(time), the leader was killed \(killed) times")
  }
}
