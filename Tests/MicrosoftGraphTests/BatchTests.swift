import Foundation
import LabSupport
import MicrosoftGraph

@Suite(.lab, .timeLimit(.minutes(20)))
struct BatchTests {
  private let lab = Lab.current
  private let test: GraphLab

  init() async throws { test = try await GraphLab() }

  private static func get(
    _ id: String, _ path: String = "/me", dependsOn: [String] = []
  ) -> GraphBatchRequest {
    GraphBatchRequest(id: id, GraphRequest(path), dependsOn: dependsOn)
  }

  /// The ids in each batch that was sent.
  private static func parts(_ test: GraphLab) throws -> [[String]] {
    try test.sent.map { request in
      let body = try JSONDecoder().decode(JSONObject.self, from: request.body)
      return body["requests"]?.arrayValue?.compactMap { $0.objectValue?["id"]?.stringValue } ?? []
    }
  }

  @Test(.conformance(73))
  func `Batch responses are in the order of the requests, each with its status`() async throws {
    let test = try await GraphLab(scopes: ["User.ReadWrite"])
    let requests = [
      Self.get("a", "/me?$select=mail"), Self.get("b", "/users"), Self.get("c", dependsOn: ["b"]),
      GraphBatchRequest(
        id: "d", GraphRequest("/me", method: .patch, body: Data(#"{"jobTitle":"Chef"}"#.utf8))),
      GraphBatchRequest(id: "e", GraphRequest("/me", query: ["$select": "id,mail"]), dependsOn: ["a"]),
      Self.get("f", "/me/photo/$value"),
    ]
    let answers = try await test.graph().batch(requests)
    #expect(answers.map(\.id) == ["a", "b", "c", "d", "e", "f"])
    #expect(answers.map(\.status) == [200, 403, 424, 204, 200, 200])
    #expect(answers[0].body?.objectValue?["mail"] == "alice@contoso.test")
    #expect(answers[1].error?.code == .forbidden)
    #expect(answers[1].error?.graphCode == "Authorization_RequestDenied")
    #expect(answers[1].error?.requestID?.isEmpty == false)
    #expect(answers[2].error?.graphCode == "FailedDependency")
    #expect(answers[3].body == nil && answers[3].error == nil)
    #expect(answers[4].body?.objectValue?.count == 3)
    #expect(answers[5].headers[.contentType] == "image/png")
    #expect(answers[5].body?.stringValue?.hasPrefix("iVBORw0KGgo") == true)

    let sent = try JSONDecoder().decode(JSONObject.self, from: #require(test.sent.first).body)
    let items = sent["requests"]?.arrayValue?.compactMap(\.objectValue) ?? []
    #expect(items[3]["body"] == .object(["jobTitle": "Chef"]))
    #expect(items[3]["headers"] == .object(["Content-Type": "application/json"]))
    #expect(items[4]["dependsOn"] == .array(["a"]))
    #expect(test.sent.count == 1)
  }

  @Test(.conformance(73)) func `Responses of a batch may be large together`() async throws {
    let list = [("a", 200), ("b", 302)].map { id, status in
      #"{"id":"\#(id)","status":\#(status),"body":"\#(String(repeating: "x", count: 9 << 20))"}"#
    }
    lab.inject(LabFault(.graph, body: #"{"responses":[\#(list.joined(separator: ","))]}"#))
    var requests = [Self.get("a"), Self.get("b")]
    requests[0].request.timeout = .seconds(90)
    let answers = try await test.graph().batch(requests)
    #expect(answers.map(\.status) == [200, 302])
    #expect(answers.allSatisfy { $0.error == nil })
    #expect(test.sent.map(\.timeout) == [.seconds(90)])
    // A limit is about a response alone.
    var small = GraphRequest("/me/photo/$value")
    small.maximumResponseSize = 1
    #expect(try await test.graph().batch([GraphBatchRequest(id: "a", small)]).map(\.status) == [200])
  }

  @Test(.conformance(73))
  func `More than twenty requests are split, with dependencies sent first`() async throws {
    var requests = (1...41).map { Self.get("\($0)") }
    requests[1].request.path = "/users"
    requests[20].dependsOn = ["1"]
    requests[30].dependsOn = ["2"]
    requests[39].dependsOn = ["39"]
    let answers = try await test.graph().batch(requests)
    #expect(answers.map(\.id) == (1...41).map(String.init))
    let failed = answers.filter { $0.error != nil }
    #expect(failed.map(\.id) == ["2", "31"])
    #expect(failed.map(\.status) == [403, 424])
    #expect(try Self.parts(test).map(\.count) == [20, 20])
    #expect(try Self.parts(test)[1].contains("31") == false)
    let second = try JSONDecoder().decode(JSONObject.self, from: test.sent[1].body)
    let dependent = second["requests"]?.arrayValue?.compactMap { $0.objectValue?["dependsOn"] }
    #expect(dependent == [.array(["39"])])
  }

  @Test(.conformance(73, 74))
  func `Throttled batch requests are repeated with their dependents`() async throws {
    lab.inject(LabFault(.batchItem, status: 429, headers: ["Retry-After": "7"], body: "{}"))
    lab.inject(LabFault(.batchItem, status: 503, headers: ["Retry-After": "9"], body: "{}"))
    let answers = try await test.graph().batch([
      Self.get("a"), Self.get("b", "/me?$select=id"), Self.get("c", dependsOn: ["a"]), Self.get("d"),
    ])
    #expect(answers.map(\.status) == [200, 200, 200, 200])
    #expect(answers[1].body?.objectValue?.count == 2)
    #expect(try Self.parts(test) == [["a", "b", "c", "d"], ["a", "b", "c"]])
    #expect(test.clock.secondsWaited == [9])
  }

  @Test(.conformance(74)) func `A request that stays throttled is reported in the end`() async throws {
    lab.inject(
      LabFault(
        .batchItem, count: 9, status: 429,
        body: #"{"error":{"code":"TooManyRequests","message":"Slow down."}}"#))
    let answers = try await test.graph(retries: GraphRetryPolicy(maximumTries: 3)).batch([
      Self.get("a"), Self.get("b", dependsOn: ["a"]),
    ])
    #expect(answers.map(\.status) == [429, 424])
    #expect(answers[0].error?.code == .throttled)
    #expect(answers[0].error?.message == "Slow down.")
    #expect(test.clock.secondsWaited == [3, 12])
  }

  @Test(.conformance(74)) func `Each request of a batch has the policy's attempts and pauses`() async throws {
    for seconds in [3600, 7] {
      lab.inject(LabFault(.batchItem, status: 429, headers: ["Retry-After": "\(seconds)"], body: "{}"))
    }
    let answers = try await test.graph().batch([Self.get("a"), Self.get("b")])
    #expect(answers.map(\.status) == [429, 200])
    #expect(test.clock.secondsWaited == [7])
    // One in the first round, the other in the second.
    for statuses in [[429, 424], [200, 429], [200]] {
      let ids = statuses.count == 1 ? ["2"] : ["1", "2"]
      let list = zip(ids, statuses).map { #"{"id":"\#($0)","status":\#($1),"body":{}}"# }
      lab.inject(LabFault(.graph, body: #"{"responses":[\#(list.joined(separator: ","))]}"#))
    }
    let once = try await test.graph(retries: GraphRetryPolicy(maximumTries: 2))
      .batch([Self.get("1"), Self.get("2", dependsOn: ["1"])])
    #expect(once.map(\.status) == [200, 200])
  }

  @Test(.conformance(73))
  func `A batch request without a response fails alone`() async throws {
    let ids = (1...25).map { "\($0)" }
    let answered = ids.map { #"{"id":"\#($0)","status":200,"body":{}}"# }.prefix(19)
    lab.inject(LabFault(.graph, body: #"{"responses":[\#(answered.joined(separator: ","))]}"#))
    lab.inject(LabFault(.graph, status: 500))
    let answers = try await test.graph().batch(ids.map { Self.get($0) })
    #expect(answers.map(\.id) == ids)
    #expect(answers.prefix(19).allSatisfy { $0.status == 200 && $0.error == nil })
    #expect(answers[19].error?.code == .invalidResponse)
    #expect(answers.suffix(5).allSatisfy { $0.status == nil && $0.error?.code == .serviceUnavailable })
  }

  @Test(.conformance(73), arguments: ["{}", "[]", "<html>", #"{"responses":{}}"#])
  func `An invalid batch response is an error`(_ body: String) async throws {
    lab.inject(LabFault(.graph, body: body))
    let graph = try test.graph()
    await expectGraphError(.invalidResponse) { try await graph.batch([Self.get("a")]) }
  }

  @Test func `An invalid batch is refused before it is sent`() async throws {
    let badBody = GraphBatchRequest(id: "a", GraphRequest("/me", method: .post, body: Data("x".utf8)))
    let ownToken = GraphBatchRequest(id: "a", GraphRequest("/me", headers: [.authorization: "Bearer x"]))
    let batches = [
      [Self.get("a"), Self.get("a")], [Self.get("")], [Self.get("a", dependsOn: ["a"])],
      [Self.get("a", dependsOn: ["b"]), Self.get("b")], [Self.get("a", lab.graphURL + "/me")],
      [Self.get("a", "me")], [badBody], [ownToken],
    ]
    for batch in batches {
      await expectGraphError(.invalidRequest) { try await test.graph().batch(batch) }
    }
    #expect(test.sent.isEmpty)
    #expect(try await test.graph().batch([]).isEmpty)
  }
}
