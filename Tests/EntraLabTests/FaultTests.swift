@testable import EntraLab
import LabSupport

@Suite(.lab) struct FaultTests {
  private let lab = Lab.current

  @Test func `A fault applies to a number of requests to one endpoint`() async throws {
    lab.inject(LabFault(.token, count: 2, status: 503, headers: ["Retry-After": "1"], body: "<html>busy"))
    lab.inject(LabFault(.graph, status: 429))
    for _ in 0..<2 {
      let answer = try await lab.refresh("x")
      #expect(answer.status == 503)
      #expect(answer.headers["retry-after"] == "1")
      #expect(answer.body == "<html>busy")
    }
    #expect(try await lab.refresh("x").status == 400)
    #expect(try await lab.curl("/v1.0/me").status == 429)
    #expect(try await lab.curl("/v1.0/me").status == 401)
    #expect(lab.requests(to: .token).map(\.status) == [503, 503, 400])
  }

  /// Exit statuses of curl: 52 no response, 56 reset or closed, 18 body incomplete, 1 and 8 not HTTP.
  @Test(
    arguments: [
      (LabFault.Connection.drop, [52, 56]), (.reset, [56, 35]), (.truncate, [18, 56]),
      (.garbage, [1, 8, 56]),
    ] as [(LabFault.Connection, [Int32])])
  func `A fault breaks the connection`(connection: LabFault.Connection, exits: [Int32]) async throws {
    let path = "/common/v2.0/.well-known/openid-configuration"
    let whole = try await lab.curl(path).body
    let (status, body) = connection == .truncate ? (200, String(whole.prefix(whole.count / 2))) : (0, "")
    lab.inject(LabFault(.discovery, connection: connection))
    lab.inject(LabFault(.discovery, delay: 0.05, connection: connection))
    for _ in 0..<2 {
      let broken = try await lab.curl(path, ["--http1.1"])
      #expect(exits.contains(broken.exit) && (status == 0 || broken.body == body), "\(broken)")
    }
    #expect(try await lab.curl(path).status == 200)
    #expect(lab.requests(to: .discovery).map(\.status) == [200, status, status, 200])
  }

  @Test func `A request can be carried out before its answer is lost`() async throws {
    let unused = try #require(try await lab.authorize().redirect["code"])
    for (fault, status) in [
      (LabFault(.token, connection: .drop), 0), (LabFault(.token, connection: .reset), 0),
      (LabFault(.token, bodySize: 1), 200), (LabFault(.token, status: 1, body: "x"), 200),
      (LabFault(.token, status: 700, body: "x"), 599),
    ] {
      lab.inject(fault)
      let answer = try await lab.redeem(unused)
      #expect(answer.status == status && answer.body == (status == 0 ? "" : "x"))
    }
    #expect(try await lab.redeem(unused).status == 200)
    let code = try #require(try await lab.authorize().redirect["code"])
    lab.inject(LabFault(.token, connection: .drop, afterHandling: true))
    #expect(try await lab.redeem(code).exit != 0)
    #expect(try await lab.redeem(code).errorCode == 54005)
  }

  @Test func `A delay is not negative, is at most ten minutes, and ends no other`() {
    for (delay, limited) in [(nil, 0), (-1, 0), (700, 600)] as [(Double?, Int)] {
      let reply = LabFault(.keys, delay: delay).reply { LabReply.notFound }
      #expect(reply.delay == .seconds(limited) && !reply.endsDelays)
    }
  }

  @Test func `A slow response blocks no other request, and a client may give up`() async throws {
    lab.inject(LabFault(.keys, delay: 600))
    async let impatient = lab.curl("/common/discovery/v2.0/keys", ["--max-time", "0.3"])
    #expect(try await lab.curl("/common/v2.0/.well-known/openid-configuration").status == 200)
    #expect(try await impatient.exit == 28)
    for ending in [nil, LabFault.Connection.drop, .truncate] {
      lab.inject(LabFault(.keys, delay: 600, connection: ending))
      #expect(try await lab.curl("/common/discovery/v2.0/keys", ["--max-time", "0.2"]).exit == 28)
      lab.endDelays()
    }
    lab.clearFaults()
    lab.inject(LabFault(.keys, delay: 0.4))
    #expect(try await lab.curl("/common/discovery/v2.0/keys").status == 200)
  }

  @Test func `A huge body is sent whole`() async throws {
    lab.inject(LabFault(.token, status: 200, bodySize: 50_000_000))
    let answer = try await lab.curl(
      "/common/oauth2/v2.0/token", form: [("a", "b")],
      ["-o", "/dev/null", "-w", "HTTP/1.1 %{size_download}"])
    #expect(answer.status == 50_000_000)
  }
}
