import Foundation
import LabSupport
import MicrosoftGraph

@Suite(.lab, .timeLimit(.minutes(20)))
struct ChallengeTests {
  private let lab = Lab.current
  private let test: GraphLab

  init() async throws { test = try await GraphLab() }

  @Test(.conformance(52))
  func `A challenge during a Graph call causes a new sign-in`() async throws {
    let test = try await GraphLab(capabilities: ["cp1"])
    let asked = Mutex<[String]>([])
    let graph = try test.graph { claims throws(IdentityError) in
      asked.withLock { $0.append((try? claims?.json()) ?? "") }
      do throws(IdentityError) {
        return try await test.silent(claims)
      } catch  where error.code == .interactionRequired {
        return try await test.signIn(claims: claims)
      }
    }
    _ = try await graph.me()
    try lab.revokeSessions(of: "alice")
    #expect(try await graph.me().displayName == "Alice Álvarez")
    #expect(lab.requests(to: .graph).map(\.status) == [200, 401, 200])
    let claims = asked.withLock { $0 }
    #expect(claims.count == 3)
    #expect(claims.last?.contains("\"nbf\"") == true)
    #expect(claims.dropLast() == ["", ""])
    #expect(test.clock.secondsWaited.isEmpty)
    let sent = test.sent.map { $0.headers["authorization"] }
    #expect(sent[0] == sent[1] && sent[1] != sent[2])
    // That token serves requests without claims, too.
    for _ in 0..<2 { _ = try await graph.me() }
    let later = test.sent.suffix(2).map { $0.headers["authorization"] }
    #expect(later[0] == sent[2] && later[1] == sent[2])
  }

  @Test(.conformance(52))
  func `Without interaction the error has the claims for the sign-in`() async throws {
    let test = try await GraphLab(capabilities: ["cp1"])
    _ = try await test.graph().me()
    try lab.revokeSessions(of: "alice")
    let error = await expectGraphError(.authentication) { try await test.graph().me() }
    #expect(error?.identityError?.code == .interactionRequired)
    #expect(error?.identityError?.claims?.contains("nbf") == true)
    #expect(error?.httpStatus == 401)
    #expect(error?.requestID?.isEmpty == false)
    #expect(test.sent.count == 2)
  }

  @Test(.conformance(52)) func `A challenge to one request of a batch is answered once`() async throws {
    let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#.utf8)
    let challenge =
      #"Bearer realm="", error="insufficient_claims", claims="\#(claims.base64EncodedString())""#
    let asked = Mutex<[Bool]>([])
    let graph = try test.graph { [test] claims throws(IdentityError) in
      asked.withLock { $0.append(claims != nil) }
      return try await test.silent(nil)
    }
    func batch(challenges: Int) async throws -> [GraphBatchResponse] {
      lab.inject(
        LabFault(
          .batchItem, count: challenges, status: 401, headers: ["WWW-Authenticate": challenge], body: "{}"))
      return try await graph.batch([.init(id: "a", GraphRequest("/me")), .init(id: "b", GraphRequest("/me"))])
    }
    #expect(try await batch(challenges: 2).map(\.status) == [200, 200])
    #expect(asked.withLock { $0 } == [false, true])
    let answers = try await batch(challenges: 3)
    #expect(answers.map(\.status) == [401, 200])
    #expect(answers[0].error?.code == .claimsChallenge)
    #expect(answers[0].error?.claims?.contains("c1") == true)
    #expect(try await batch(challenges: 4).compactMap(\.error?.code) == [.claimsChallenge, .claimsChallenge])
    // One that is refused keeps no other from its answer.
    lab.inject(LabFault(.batchItem, status: 403, body: "{}"))
    #expect(try await batch(challenges: 1).map(\.status) == [403, 200])
    // The token for the claims is kept for one that is throttled then.
    for status in [401, 403] {
      lab.inject(LabFault(.batchItem, status: status, headers: ["WWW-Authenticate": challenge], body: "{}"))
      lab.inject(LabFault(.batchItem, status: 429, headers: ["Retry-After": "1"], body: "{}"))
      asked.withLock { $0 = [] }
      let one = try await graph.batch([.init(id: "a", GraphRequest("/me"))])
      #expect(one.map(\.status) == [200] && asked.withLock { $0 } == [false, true, true])
    }
  }

  @Test(.conformance(52))
  func `A challenge to one request of a batch that cannot be answered fails that one`() async throws {
    let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#.utf8)
    let challenge =
      #"Bearer realm="", error="insufficient_claims", claims="\#(claims.base64EncodedString())""#
    let graph = try test.graph { [test] claims throws(IdentityError) in
      guard claims == nil else { throw IdentityError(.interactionRequired, "Sign in.") }
      return try await test.silent(nil)
    }
    lab.inject(LabFault(.graph, status: 401, headers: ["WWW-Authenticate": challenge]))
    let alone = await expectGraphError(.authentication) { try await graph.me() }
    #expect(alone?.identityError?.claims?.contains("acrs") == true)
    for count in [1, 21] {
      lab.inject(LabFault(.batchItem, status: 401, headers: ["WWW-Authenticate": challenge], body: "{}"))
      let answers = try await graph.batch((1...count).map { .init(id: "\($0)", GraphRequest("/me")) })
      #expect(answers.map(\.status) == [401] + Array(repeating: 200, count: count - 1))
      #expect(answers[0].error?.code == .authentication)
      #expect(answers[0].error?.identityError?.claims?.contains("acrs") == true)
    }
  }

  @Test(.conformance(52), arguments: [401, 403])
  func `A second challenge ends the call, whatever the status`(_ status: Int) async throws {
    let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#.utf8)
    let challenge =
      #"Bearer realm="", authorization_uri="https://localhost/a,b", error="insufficient_claims", "#
      + #"claims="\#(claims.base64EncodedString())""#
    lab.inject(
      LabFault(
        .graph, count: 9, status: status, headers: ["WWW-Authenticate": challenge],
        body: #"{"error":{"code":"InvalidAuthenticationToken","message":"No."}}"#))
    let asked = Mutex<[String]>([])
    let graph = try test.graph { claims throws(IdentityError) in
      asked.withLock { $0.append((try? claims?.json()) ?? "") }
      return try await test.silent(nil)
    }
    let error = await expectGraphError(.claimsChallenge) { try await graph.me() }
    #expect(error?.httpStatus == status)
    #expect(error?.message == "No." && error?.claims?.contains("c1") == true)
    #expect(asked.withLock { $0 } == ["", #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#])
    #expect(test.sent.count == 2)
  }

  @Test(.conformance(52), arguments: ["e30x", "W10=", "", "eyJ1c2VyaW5mbyI6e319"])
  func `An invalid challenge is a plain refusal`(_ claims: String) async throws {
    let challenge = #"Bearer error="insufficient_claims", claims="\#(claims)""#
    lab.inject(LabFault(.graph, status: 401, headers: ["WWW-Authenticate": challenge]))
    await expectGraphError(.unauthorized) { try await test.graph().me() }
    #expect(test.sent.count == 1)
  }

  @Test func `A token that Graph refuses is not sent twice`() async throws {
    lab.configure { $0.clockSkew = 4000 }
    let error = await expectGraphError(.unauthorized) { try await test.graph().me() }
    #expect(error?.graphCode == "InvalidAuthenticationToken")
    #expect(error?.message == "Lifetime validation failed, the token is expired.")
    #expect(test.sent.count == 1)
  }

  @Test func `Without a token no request is sent`() async throws {
    let refusing = try test.graph { _ throws(IdentityError) in
      throw IdentityError(.interactionRequired, "No account is signed in.", advice: "Sign in.")
    }
    let error = await expectGraphError(.authentication) { try await refusing.me() }
    #expect(error?.description == "No account is signed in. Sign in.")
    #expect(error?.identityError?.code == .interactionRequired)
    let cancelled = try test.graph { _ throws(IdentityError) in throw IdentityError(.cancelled, "") }
    await expectGraphError(.cancelled) { try await cancelled.me() }
    let empty = try test.graph { _ throws(IdentityError) in .made(token: "") }
    await expectGraphError(.authentication) { try await empty.me() }
    #expect(test.sent.isEmpty)
  }
}
