import Foundation
import LabSupport
import MicrosoftGraph

@Suite(.lab, .timeLimit(.minutes(20)))
struct HostileTests {
  private let lab = Lab.current
  private let test: GraphLab

  init() async throws { test = try await GraphLab() }

  @Test(.conformance(73)) func `An error's text is short and has no control characters`() async throws {
    let escape = #"\u001b]0;owned\u0007\u001b[2J\u202eevil\r\n"#
    let long = String(repeating: "A", count: 2_000_000)
    let details = (0...100).map { #"{"code":"\#($0)"}"# }.joined(separator: ",")
    lab.inject(
      LabFault(
        .graph, status: 400,
        body: #"{"error":{"code":"\#(escape)\#(long)","message":"\#(escape)\#(long)","#
          + #""details":[\#(details)],"#
          + #""innererror":{"request-id":"\#(escape)\#(long)","code":"\#(escape)"}}}"#))
    let error = try #require(await #expect(throws: GraphError.self) { try await test.graph().me() })
    let shown = [error.message, error.graphCode, error.requestID, error.innerCodes.first, error.description]
    for text in shown.compactMap(\.self) {
      #expect(!text.unicodeScalars.contains { $0.value < 32 || (0x202A...0x202E).contains($0.value) })
      #expect(text.contains("evil"))
      #expect(text.utf8.count <= 2000)
    }
    #expect(shown.compactMap(\.self).count == 5)
    #expect(error.details.compactMap(\.code) == (0..<100).map { "\($0)" })
  }

  @Test(
    .conformance(73),
    arguments: [
      "<html><script>alert(1)</script>", "", "null", "[]", #"{"error":""}"#, #"{"error":{}}"#,
      #"{"error":{"code":5,"message":["x"],"innerError":7}}"#, "\u{1b}[31m", #"{"error":{"message":""}}"#,
      String(repeating: #"{"error":"#, count: 100_000),
    ].abbreviated)
  func `A response without Graph's error is reported by its status`(_ body: Named<String>) async throws {
    let body = body.value
    lab.inject(LabFault(.graph, status: 418, body: body))
    let error = try #require(await expectGraphError(.requestRefused) { try await test.graph().me() })
    #expect(error.message == "Graph responded with status 418 and no explanation.")
    #expect(error.graphCode == nil)
    #expect(error.body == Data(body.utf8))
  }

  private static let json = "application/json"

  @Test(
    .conformance(73), .fault("shapes of errors"),
    arguments: [
      (json, #"{"error":{"code":"c","message":"No."}}"#),
      (json, #"{"error":{"code":"c","message":{"lang":"en-US","value":"No."}}}"#),
      (json, #"{"odata.error":{"code":"c","message":{"lang":"en-US","value":"No."}}}"#),
      (json, #"{"error":{"code":"c","message":"{\r\n \"_version\": 3,\r\n \"Message\": \"No.\"}"}}"#),
      (json, #"{"Error":{"Code":"c","Message":"No."}}"#), (json, #"{"code":"c","message":"No."}"#),
      (json, #"{"error":"c","error_description":"No."}"#),
      (json, #"{"error":{"code":"c","message":"","details":[{"message":"No."},{"message":"Nor this."}]}}"#),
      ("application/problem+json", #"{"code":"c","title":"Bad","status":400,"detail":"No."}"#),
      (json, #"{"statusCode":400,"message":"No."}"#), (json, #"{"errors":[{"message":"No."}]}"#),
      ("text/plain; charset=utf-8", "No."),
    ])
  func `The errors of all services have their code and message`(_ type: String, _ body: String) async throws {
    lab.inject(LabFault(.graph, status: 400, headers: ["Content-Type": type], body: body))
    let error = try #require(await expectGraphError(.requestRefused) { try await test.graph().me() })
    #expect(error.message == "No.")
    #expect(error.graphCode == (body.contains(#""c""#) ? "c" : nil))
    #expect(error.body == Data(body.utf8))
  }

  @Test(.conformance(73), .fault("shapes of errors"))
  func `An error has all that Graph says, alone and in a batch`() async throws {
    let body =
      #"{"error":{"code":"Request_BadRequest","message":"No.","target":"user","details":["#
      + #"{"code":"ObjectConflict","target":"mail","message":"Taken."},{"code":"x"},7],"#
      + #""innerError":{"code":"i","date":"2026-11-28T12:00:00","request-id":"r","retry":true}}}"#
    lab.inject(LabFault(.graph, status: 400, body: body))
    let alone = await expectGraphError(.requestRefused) { try await test.graph().me() }
    lab.inject(LabFault(.batchItem, status: 400, body: body))
    let batched = try await test.graph().batch([GraphBatchRequest(id: "a", GraphRequest("/me"))])
    lab.inject(
      LabFault(.batchItem, status: 400, headers: ["Content-Type": "text/plain"], body: "Too many letters."))
    let plain = try await test.graph().batch([GraphBatchRequest(id: "a", GraphRequest("/me"))])
    #expect(plain[0].error?.message == "Too many letters.")
    for error in try [alone, batched[0].error].map({ try #require($0) }) {
      #expect(error.target == "user")
      #expect(error.details.map(\.code) == ["ObjectConflict", "x"])
      #expect(error.details.map(\.message) == ["Taken.", nil])
      #expect(error.details.map(\.target) == ["mail", nil])
      #expect(error.innerError?["retry"] == .bool(true))
      #expect(error.innerCodes == ["i"])
      let sent = try JSONDecoder().decode(JSONObject.self, from: #require(error.body))
      #expect(sent == (try JSONDecoder().decode(JSONObject.self, from: Data(body.utf8))))
    }
  }

  @Test(.fault("half surrogate"))
  func `Half a surrogate pair hides neither a page nor an error`() async throws {
    struct Mail: Decodable { let subject: String }
    struct List: Decodable { let value: [Mail] }
    let text = #"cut off \ud83d"#
    lab.inject(LabFault(.graph, count: 2, body: #"{"value":[{"subject":"\#(text)"}]}"#))
    let response = try await test.graph().get("/me/messages")
    #expect(try response.decode(List.self).value.map(\.subject) == ["cut off \u{FFFD}"])
    var pages = try test.graph().pages(of: "/me/messages").makeAsyncIterator()
    #expect(try await pages.next()?.items == [.object(["subject": "cut off \u{FFFD}"])])
    lab.inject(LabFault(.graph, status: 400, body: #"{"error":{"message":"\#(text)"}}"#))
    let error = await expectGraphError(.requestRefused) { try await test.graph().me() }
    #expect(error?.message == "cut off \u{FFFD}")
  }

  @Test(.conformance(73)) func `Both spellings of innerError and nested ones are read`() async throws {
    for name in ["innerError", "innererror"] {
      lab.inject(
        LabFault(
          .graph, status: 409,
          body: #"{"error":{"code":"a","message":"No.","\#(name)":{"code":"b","request-id":"r","#
            + #""\#(name)":{"code":"c","request-id":"s"}}}}"#))
      let error = try #require(await #expect(throws: GraphError.self) { try await test.graph().me() })
      #expect(error.graphCode == "a")
      #expect(error.innerCodes == ["b", "c"])
      #expect(error.requestID == "r")
      #expect(error.message == "No.")
    }
  }

  @Test(.conformance(73), arguments: [200, 500])
  func `A response of 50 MB is an error unless the limit is raised`(_ status: Int) async throws {
    let size = 50 << 20
    lab.inject(LabFault(.graph, status: status, bodySize: size))
    let error = await expectGraphError(.responseTooLarge) { try await test.graph().get("/me/messages") }
    #expect(error?.message == "Graph's response is larger than 16777216 bytes.")
    #expect(error?.transportError == .responseTooLarge(limit: 16 << 20))
    lab.inject(LabFault(.graph, bodySize: size))
    var request = GraphRequest("/me/messages/1/attachments/1/$value")
    request.maximumResponseSize = size
    #expect(try await test.graph().send(request).body.count == size)
  }

  @Test(.conformance(73), arguments: [LabFault.Connection.drop, .reset, .truncate])
  func `A connection that breaks once is retried`(_ connection: LabFault.Connection) async throws {
    lab.inject(LabFault(.graph, connection: connection))
    let impatient = GraphRetryPolicy(maximumWait: .zero)
    #expect(try await test.graph(retries: impatient).me().displayName == "Alice Álvarez")
    #expect(lab.requests(to: .graph).map(\.status).last == 200)
  }

  @Test(.conformance(73), arguments: [LabFault.Connection.drop, .reset, .truncate, .garbage])
  func `A connection that keeps breaking is a network error`(_ connection: LabFault.Connection)
    async throws
  {
    lab.inject(LabFault(.graph, count: 9, connection: connection))
    let error = await expectGraphError(.network) { try await test.graph().me() }
    #expect(error?.transportError != nil)
    #expect(error?.clientRequestID?.isEmpty == false)
    #expect(test.sent.count == (connection == .garbage ? 1 : 2))
  }

  @Test(.conformance(73))
  func `A redirect is not followed, and its URL is not in the error`() async throws {
    lab.inject(
      LabFault(
        .graph, status: 302, headers: ["Location": "https://evil.test/?tempauth=secret"], body: "secret"))
    let error = try #require(await expectGraphError(.redirected) { try await test.graph().get("/x") })
    #expect(!error.description.contains("secret") && error.body == nil)
    #expect(test.transport.requests.allSatisfy { $0.host.hasPrefix("localhost:") })
  }

  @Test(.fault("part"), arguments: [203, 205, 206, 207, 208, 226, 304])
  func `A status of success that the request cannot have is an error`(_ status: Int) async throws {
    let part = LabFault(
      .graph, status: status, headers: ["Content-Range": "bytes 0-1/9"], body: #"{"id":"1"}"#)
    lab.inject(part)
    let code: GraphError.Code = status == 304 ? .redirected : .invalidResponse
    let error = await expectGraphError(code) { try await test.graph().get("/x") }
    #expect(error?.httpStatus == status)
    for (field, value, asked) in [
      (.range, "bytes=0-1", 206), (.ifNoneMatch, "\"x\"", 304), (.ifModifiedSince, "x", 304),
    ] as [(HTTPField.Name, String, Int)] where status == asked {
      lab.inject(part)
      #expect(try await test.graph().send(GraphRequest("/x", headers: [field: value])).status == status)
    }
  }

  @Test(arguments: ["<html>", "[]", "", "\u{FEFF}x"])
  func `A successful response without a user is an error`(_ body: String) async throws {
    lab.inject(LabFault(.graph, status: 200, headers: ["request-id": "r"], body: body))
    let error = await expectGraphError(.invalidResponse) { try await test.graph().me() }
    #expect(error?.requestID == "r")
    #expect(error?.message == "Graph's response is not the JSON of a GraphUser.")
  }

  @Test(arguments: [
    (64, 1, nil), (65, 1, "deeper than 64 levels"), (1, 1_000_001, "more than 1000000 values"),
  ])
  func `JSON beyond the limits is refused, JSON within them is read`(
    _ depth: Int, _ count: Int, _ reason: String?
  ) async throws {
    let list = Array(repeating: "1", count: count).joined(separator: ",")
    let body = String(repeating: "[", count: depth) + list + String(repeating: "]", count: depth)
    lab.inject(LabFault(.graph, status: 200, body: body))
    let response = try await test.graph().get("/x")
    guard let reason else {
      #expect(throws: Never.self) { try response.json() }
      return
    }
    let error = try #require(#expect(throws: GraphError.self) { try response.json() })
    #expect(error.code == .invalidResponse)
    #expect(error.message.contains(reason) && error.advice != nil)
    #expect(error.clientRequestID?.isEmpty == false)
  }

  @Test func `No error contains the token`() async throws {
    lab.inject(LabFault(.graph, status: 400))
    let error = try #require(await #expect(throws: GraphError.self) { try await test.graph().me() })
    let token = try #require(test.sent.last?.headers["authorization"]?.dropFirst(7))
    #expect(token.count > 20)
    var dumped = ""
    dump(error, to: &dumped)
    #expect(!dumped.contains(token))
    #expect(!"\(error) \(String(reflecting: error))".contains(token))
  }
}
