import Foundation
import LabSupport
import MicrosoftGraph

@Suite(.lab, .timeLimit(.minutes(20)))
struct PagesTests {
  private let lab = Lab.current
  private let test: GraphLab

  init() async throws { test = try await GraphLab() }

  private static let scopes = ["User.ReadBasic.All"]

  @Test(.conformance(73))
  func `A list is read page by page, with the first request's header fields`() async throws {
    let test = try await GraphLab(scopes: Self.scopes)
    let list = try test.graph().pages(
      of: GraphRequest("/users", query: ["$top": "20"], headers: [.contentLanguage: "eventual"]))
    for _ in 0..<2 {
      var sizes: [Int] = []
      for try await page in list { sizes.append(page.items.count) }
      #expect(sizes == [20, 20, 5])
    }
    #expect(test.sent.count == 6)
    #expect(test.sent.allSatisfy { $0.headers["content-language"] == "eventual" })
  }

  @Test(.conformance(73)) func `An error ends the list and is a GraphError`() async throws {
    let list = try test.graph().pages(of: "/users")
    var pages = list.makeAsyncIterator()
    do throws(GraphError) {
      _ = try await pages.next()
      Issue.record("The list should be refused.")
    } catch {
      #expect(error.code == .forbidden)
    }
    #expect(try await pages.next() == nil)
  }

  @Test(
    .conformance(73), .fault("next page"),
    arguments: [
      ("https://evil.test/v1.0/users", "another host (evil.test)"),
      ("https://localhost:1/v1.0/users", "another host (localhost:1)"),
      ("//evil.test/users", "another host (evil.test)"), ("http://HOST/v1.0/users", "not https"),
      ("https://localhost@evil.test/", "not https, or has a user name"), ("https://user@HOST/", "user name"),
    ])
  func `A next link to another host or over http is an error and gets no token`(
    _ link: String, _ reason: String
  ) async throws {
    let link = link.replacing("HOST", with: lab.baseURL.replacing("https://", with: ""))
    let test = try await GraphLab(scopes: Self.scopes)
    lab.inject(LabFault(.graph, body: #"{"value":[1],"@odata.nextLink":"\#(link)"}"#))
    var pages = try test.graph().pages(of: "/users").makeAsyncIterator()
    #expect(try await pages.next()?.items == [.integer(1)])
    let error = await expectGraphError(.hostNotAllowed) { try await pages.next() }
    #expect(error?.requestID == nil && error?.httpStatus == 200)
    #expect(error?.message.contains(reason) == true)
    #expect(test.transport.requests.allSatisfy { $0.host == test.sent[0].host })
    #expect(test.sent.count == 1)
    #expect(try await pages.next() == nil)
  }

  @Test(
    .conformance(73), .fault("relative link"),
    arguments: [
      ("/v1.0/users?$skiptoken=a%2Cb", "", "/v1.0/users?$skiptoken=a%2Cb"),
      ("users?$skiptoken=1", "", "/v1.0/users?$skiptoken=1"),
      ("?$skiptoken=1", "", "/v1.0/users?$skiptoken=1"),
      ("next?a=b c", "/beta/$metadata#users", "/beta/next?a=b%20c"), ("//HOST/beta/x", "", "/beta/x"),
    ])
  func `A relative link is one to the same host`(_ link: String, context: String, path: String) async throws {
    let test = try await GraphLab(scopes: Self.scopes)
    let link = link.replacing("HOST", with: lab.baseURL.dropFirst("https://".count))
    let base = context.isEmpty ? "" : lab.baseURL + context
    for name in ["nextLink", "deltaLink"] {
      lab.inject(
        LabFault(.graph, body: #"{"@odata.context":"\#(base)","value":[],"@odata.\#(name)":"\#(link)"}"#))
    }
    var pages = try test.graph().pages(of: "/users").makeAsyncIterator()
    _ = try await pages.next()
    #expect(try await pages.next()?.deltaLink == lab.baseURL + path)
    #expect(test.sent.count == (path.hasPrefix("/v1.0") ? 2 : 1))
    #expect(test.transport.requests.last?.path == path)
  }

  @Test(.conformance(73), .fault("no next page"), arguments: ["null", "\"\""])
  func `An empty link is the end of a list`(_ link: String) async throws {
    lab.inject(
      LabFault(.graph, body: #"{"value":[],"@odata.nextLink":\#(link),"@odata.deltaLink":\#(link)}"#))
    var pages = try test.graph().pages(of: "/users").makeAsyncIterator()
    let page = try #require(try await pages.next())
    #expect(page.deltaLink == nil)
    #expect(try await pages.next() == nil)
  }

  @Test(.conformance(73), .fault("POST list"))
  func `The next pages of a POST are read with GET and without its body`() async throws {
    let request = GraphRequest(
      "/me/getMemberObjects", method: .post, headers: [.contentLanguage: "eventual"],
      body: Data(#"{"securityEnabledOnly":false}"#.utf8))
    for link in [#""@odata.nextLink":"\#(lab.graphURL)/next""#, #""x":1"#] {
      lab.inject(LabFault(.graph, body: #"{"value":["id"],\#(link)}"#))
    }
    var count = 0
    for try await page in try test.graph().pages(of: request) { count += page.items.count }
    #expect(count == 2)
    #expect(test.sent.map(\.method) == ["POST", "GET"])
    #expect(test.sent.last?.body.isEmpty == true)
    #expect(test.sent.map { $0.headers["content-type"] } == ["application/json", nil])
    #expect(test.sent.map { $0.headers["content-language"] } == ["eventual", "eventual"])
  }

  @Test func `A next link keeps its escapes beside characters that need escaping`() async throws {
    let test = try await GraphLab(scopes: Self.scopes)
    let link = lab.graphURL + "/users?$filter=id eq 'x'&$skiptoken=a%2Cb"
    lab.inject(LabFault(.graph, body: #"{"value":[],"@odata.nextLink":"\#(link)"}"#))
    lab.inject(LabFault(.graph, body: #"{"value":[]}"#))
    for try await _ in try test.graph().pages(of: "/users") {}
    #expect(test.sent.last?.path == "/v1.0/users?$filter=id%20eq%20'x'&$skiptoken=a%2Cb")
  }

  @Test(.conformance(73)) func `A list with a loop of next links is an error`() async throws {
    let test = try await GraphLab(scopes: Self.scopes)
    for link in ["users?$skiptoken=1", "users?$skiptoken=2", "users?$skiptoken=1"] {
      lab.inject(LabFault(.graph, body: #"{"value":[],"@odata.nextLink":"\#(lab.graphURL)/\#(link)"}"#))
    }
    var count = 0
    await expectGraphError(.invalidResponse) {
      for try await _ in try test.graph().pages(of: "/users") { count += 1 }
    }
    #expect(count == 3)
    #expect(test.sent.count == 3)
  }

  @Test(.conformance(73), arguments: ["[]", "{}", #"{"value":{}}"#, "<html>", ""])
  func `A response that is not a list is an error`(_ body: String) async throws {
    lab.inject(LabFault(.graph, status: 200, body: body))
    var pages = try test.graph().pages(of: "/me").makeAsyncIterator()
    await expectGraphError(.invalidResponse) { try await pages.next() }
  }

  @Test func `The last page of a delta query has the delta link`() async throws {
    let link = lab.graphURL + "/users/delta?$deltatoken=x"
    lab.inject(LabFault(.graph, body: #"{"value":[{"id":"1"}],"@odata.deltaLink":"\#(link)"}"#))
    var pages = try test.graph().pages(of: "/users/delta").makeAsyncIterator()
    let page = try await pages.next()
    #expect(page?.deltaLink == link)
    #expect(page?.items == [.object(["id": "1"])])
    #expect(try await pages.next() == nil)
  }
}
