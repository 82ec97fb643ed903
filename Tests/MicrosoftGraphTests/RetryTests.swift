import Foundation
import LabSupport
import MicrosoftGraph

@Suite(.lab, .timeLimit(.minutes(20)))
struct RetryTests {
  private let lab = Lab.current
  private let test: GraphLab

  init() async throws { test = try await GraphLab() }

  @Test(.conformance(74), arguments: [429, 503, 504])
  func `A throttled request is repeated after Retry-After`(_ status: Int) async throws {
    lab.inject(LabFault(.graph, count: 2, status: status, headers: ["Retry-After": "17"]))
    lab.inject(LabFault(.graph, status: status, headers: ["Retry-After": "0"]))
    #expect(try await test.graph().me().displayName == "Alice Álvarez")
    #expect(test.clock.secondsWaited == [17, 17, 0])
    #expect(test.sent.map { $0.headers["retry-attempt"] } == [nil, "1", "2", "3"])
    #expect(Set(test.sent.map { $0.headers["client-request-id"] }).count == 1)
  }

  @Test(.conformance(74)) func `A repetition has a token of its time`() async throws {
    lab.inject(LabFault(.graph, status: 429, headers: ["Retry-After": "17"]))
    let graph = try test.graph(tokens: { [test] (_) throws(IdentityError) in
      try await test.client.acquireTokenSilent(
        SilentRequest(scopes: test.scopes, account: test.account, forceRefresh: true))
    })
    _ = try await graph.me()
    #expect(Set(test.sent.map { $0.headers["authorization"] }).count == 2)
  }

  @Test(
    .conformance(74),
    arguments: [
      ("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:29 GMT"),
      ("Friday, 31-Dec-99 23:59:59 GMT", "Friday, 31-Dec-99 23:59:29 GMT"),
      ("Fri Dec 31 23:59:59 1999", "Fri Dec 31 23:59:29 1999"),
      ("Sat Jan  1 00:00:29 2000", "Fri, 31 Dec 1999 23:59:59 GMT"),
    ])
  func `A date in Retry-After is relative to the server's clock`(_ until: String, now: String) async throws {
    let headers = ["Retry-After": until, "Date": now]
    lab.inject(LabFault(.graph, status: 429, headers: headers))
    lab.inject(LabFault(.graph, status: 429, headers: ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"]))
    _ = try await test.graph().me()
    #expect(test.clock.secondsWaited == [30, 0])
  }

  @Test(.conformance(74))
  func `Without Retry-After the pauses grow up to the policy's total`() async throws {
    lab.inject(LabFault(.graph, count: 20, status: 503, body: "<html>busy"))
    let error = await expectGraphError(.serviceUnavailable) { try await test.graph().me() }
    #expect(error?.httpStatus == 503)
    #expect(test.clock.secondsWaited == [3, 12, 27, 48, 75])
  }

  @Test(.conformance(74)) func `All attempts of a call have one deadline`() async throws {
    lab.inject(LabFault(.graph, count: 2, status: 503, headers: ["Retry-After": "50"]))
    test.clock.onWait.withLock { $0 = { [clock = test.clock] _ in clock.advance(20) } }
    _ = try await test.graph(retries: GraphRetryPolicy(maximumWait: .seconds(100))).me()
    #expect(test.sent.map(\.timeout) == [.seconds(60), .seconds(60), .seconds(20)])
  }

  @Test(.conformance(74))
  func `At most ten attempts are made, with pauses of at most three minutes`() async throws {
    lab.inject(LabFault(.graph, count: 20, status: 429))
    let patient = GraphRetryPolicy(maximumWait: .seconds(100_000))
    await expectGraphError(.throttled) { try await test.graph(retries: patient).me() }
    #expect(test.clock.secondsWaited == [3, 12, 27, 48, 75, 108, 147, 180, 180])
    #expect(test.sent.count == 10)
  }

  @Test(.conformance(74)) func `A Retry-After beyond the limit fails at once with its duration`() async throws
  {
    lab.inject(LabFault(.graph, status: 429, headers: ["Retry-After": "3600"]))
    let error = await expectGraphError(.throttled) { try await test.graph().me() }
    #expect(error?.retryAfter == .seconds(3600))
    #expect(error?.advice == "Try again in 3600 seconds.")
    #expect(test.clock.secondsWaited.isEmpty)
  }

  @Test(.conformance(74)) func `A request that may have been carried out is not repeated`() async throws {
    let test = try await GraphLab(scopes: ["User.ReadWrite"])
    let change = GraphRequest("/me", method: .patch, body: Data("{}".utf8))
    for request in [change, GraphRequest("/me/messages/1", method: .delete)] {
      lab.inject(LabFault(.graph, status: 504))
      await expectGraphError(.serviceUnavailable) { try await test.graph().send(request) }
      lab.inject(LabFault(.graph, connection: .drop))
      await expectGraphError(.network) { try await test.graph().send(request) }
    }
    #expect(test.sent.count == 4)
    lab.inject(LabFault(.graph, status: 503))
    #expect(try await test.graph().send(change).status == 204)
    #expect(test.sent.suffix(2).allSatisfy { $0.body == Data("{}".utf8) })
  }

  @Test(.conformance(74))
  func `After 504 a batch of GET requests is repeated, one with changes is not`()
    async throws
  {
    let test = try await GraphLab(scopes: ["User.ReadWrite"])
    let question = GraphBatchRequest(id: "a", GraphRequest("/me"))
    let change = GraphBatchRequest(id: "b", GraphRequest("/me", method: .patch, body: Data("{}".utf8)))
    lab.inject(LabFault(.graph, status: 504))
    #expect(try await test.graph().batch([question]).map(\.status) == [200])
    lab.inject(LabFault(.graph, status: 504))
    await expectGraphError(.serviceUnavailable) { try await test.graph().batch([question, change]) }
    lab.inject(LabFault(.batchItem, count: 2, status: 504, body: "{}"))
    #expect(try await test.graph().batch([question, change]).map(\.status) == [200, 504])
  }

  @Test(.conformance(74), arguments: [400, 404, 409, 412, 500, 501, 502, 507])
  func `No other refusal is retried`(_ status: Int) async throws {
    lab.inject(LabFault(.graph, status: status, headers: ["Retry-After": "5"]))
    let error = await #expect(throws: GraphError.self) { try await test.graph().me() }
    #expect(error?.httpStatus == status)
    #expect(error?.retryAfter == (status < 500 ? nil : .seconds(5)))
    #expect(test.sent.count == 1)
  }

  @Test func `A call that is cancelled during a retry pause ends`() async throws {
    lab.inject(LabFault(.graph, status: 429, headers: ["Retry-After": "100"]))
    let (waiting, began) = AsyncStream.makeStream(of: Void.self)
    let timing = Timing(
      sleep: { duration in
        began.yield()
        try await Task.sleep(for: duration)
      }, uptime: { .zero })
    let graph = GraphClient(
      transport: test.transport, cloud: try test.cloud(), retries: GraphRetryPolicy(), timing: timing,
      tokens: { claims throws(IdentityError) in try await test.silent(claims) })
    let call = Task { try await graph.me() }
    for await _ in waiting { break }
    call.cancel()
    await expectGraphError(.cancelled) { try await call.value }
  }

  @Test func `A call that is cancelled during a request ends`() async throws {
    lab.inject(LabFault(.graph, delay: 600))
    let graph = try test.graph()
    let call = Task { try await graph.me() }
    _ = await lab.requests(to: .graph, atLeast: 1)
    call.cancel()
    await expectGraphError(.cancelled) { try await call.value }
  }
}
