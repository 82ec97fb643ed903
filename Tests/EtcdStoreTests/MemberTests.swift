import EtcdStore
import TestSupport

/// What the doctor asks of a cluster.
@Suite(.timeLimit(.minutes(20)))
struct MemberTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test(arguments: [("10", true, true), ("11", false, true), ("0", false, false)])
  func `A member reports its part in the cluster, its alarms and its database`(
    _ leader: String, _ isLeader: Bool, _ hasLeader: Bool
  ) async throws {
    let header = #""header":{"revision":"5","cluster_id":"1","member_id":"10"}"#
    let answers = [
      "/v3/maintenance/status": #"""
      {\#(header),"version":"3.5.16","leader":"\#(leader)","dbSize":"300","dbSizeInUse":"200",
        "errors":["memberID:7 alarm:NOSPACE ","memberID:8 alarm:CORRUPT "]}
      """#,
      "/v3/kv/txn": #"{\#(header),"succeeded":true,"responses":[{"response_range":{}}]}"#,
      "/metrics": """
      # TYPE etcd_server_quota_backend_bytes gauge
      etcd_server_quota_backend_bytes 2.147483648e+09
      etcd_server_quota_backend_bytes 1

      """,
    ]
    let transport = MeddlingTransport { (request, _) throws(HTTPTransportError) in
      guard request.timeout > .zero, let body = answers[request.head.path ?? ""] else { throw .timedOut }
      return HTTPTransportResponse(
        HTTPResponse(status: .ok, headerFields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT"]),
        body: Data(body.utf8))
    }
    let member = try #require(try await fixture.store(through: transport).members().first).get()
    #expect(member.isLeader == isLeader && member.hasLeader == hasLeader)
    #expect(transport.methods.count { $0 == "/v3/kv/txn" } == (hasLeader ? 5 : 0))
    #expect((member.latency > .zero) == hasLeader)
    #expect(member.alarms == ["NOSPACE", "CORRUPT"])
    #expect(member.size == 300 && member.sizeInUse == 200 && member.quota == 2_147_483_648)
    #expect((member.clockOffset ?? 0) < 0)
  }

  @Test(.fault("watch ends")) func `The age of a watch is known once it reports changes`() async throws {
    let store = try fixture.store()
    _ = try await store.watchAge(of: fixture.group, timeout: .seconds(600))
    #expect(store.generation(of: fixture.group) != nil)
    let other = try fixture.store(watching: nil)
    await expectCacheError(.timedOut) { try await other.watchAge(of: fixture.group) }
  }
}
