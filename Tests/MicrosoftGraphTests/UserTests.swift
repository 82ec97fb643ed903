import Foundation
import LabSupport
import MicrosoftGraph

@Suite(.lab, .timeLimit(.minutes(20)))
struct UserTests {
  private let lab = Lab.current
  private let test: GraphLab

  init() async throws { test = try await GraphLab() }

  @Test(.conformance(73)) func `The user, whole and with selected properties`() async throws {
    let graph = try test.graph()
    let me = try await graph.me()
    #expect(me.userPrincipalName == "alice@contoso.test")
    #expect(me.displayName == "Alice Álvarez")
    #expect((me.givenName, me.surname) == ("Alice", "Álvarez"))
    #expect(me.id == lab.directory.user("alice")?.objectID)
    #expect((me.jobTitle, me.businessPhones) == (nil, []))
    #expect(me.properties["jobTitle"] == .null)
    let selected = try await graph.me(select: ["displayName", "mail"])
    #expect(selected.properties == ["displayName": "Alice Álvarez", "mail": "alice@contoso.test"])
    #expect(selected.id == nil)
    let copy = try JSONDecoder().decode(GraphUser.self, from: JSONEncoder().encode(me))
    #expect(copy == me)
    let requests = lab.requests(to: .graph)
    #expect(requests.last?.query == ["$select": "displayName,mail"])
    #expect(Set(requests.compactMap { $0.headers["client-request-id"] }).count == 2)
    #expect(requests.allSatisfy { $0.headers["retry-attempt"] == nil })
  }

  @Test(.conformance(73))
  func `An unknown property is refused with Graph's message`() async throws {
    let error = await expectGraphError(.requestRefused) { try await test.graph().me(select: ["shoeSize"]) }
    #expect(error?.httpStatus == 400)
    #expect(error?.graphCode == "BadRequest")
    #expect(error?.message.hasSuffix("Could not find a property named 'shoeSize'.") == true)
    #expect(error?.requestID?.isEmpty == false)
    #expect(error?.clientRequestID == test.sent.last?.headers["client-request-id"])
  }

  @Test(.conformance(73)) func `A user with and without a photo`() async throws {
    let photo = try await test.graph().photo()
    #expect(photo?.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
    #expect(try await GraphLab(user: "bob").graph().photo() == nil)
  }

  @Test(
    .conformance(73), .fault("no photo"),
    arguments: [
      "ImageNotFound", "ErrorItemNotFound", "ErrorEntityNotFound", "itemNotFound", "ResourceNotFound",
      "Request_ResourceNotFound", "GetUserPhoto", "NotFound", "",
    ])
  func `A photo that is not found is none, whatever Graph's code`(_ code: String) async throws {
    let body = #"{"error":{"code":"\#(code)","message":"The photo wasn't found."}}"#
    lab.inject(LabFault(.graph, status: 404, body: body))
    #expect(try await test.graph().photo() == nil)
    lab.inject(LabFault(.graph, status: 400, body: body))
    await expectGraphError(.requestRefused) { try await test.graph().photo() }
  }

  @Test(.conformance(73)) func `Any path and method work, also without a response body`() async throws {
    let test = try await GraphLab(scopes: ["User.ReadWrite", "User.ReadBasic.All"])
    let graph = try test.graph()
    let list = try await graph.get("/users?$top=3", query: ["$filter": "a eq 'b&c'"])
    #expect(try list.json().objectValue?["value"]?.arrayValue?.count == 3)
    #expect(lab.requests(to: .graph).last?.query == ["$top": "3", "$filter": "a eq 'b&c'"])
    let change = GraphRequest("me", method: .patch, body: Data(#"{"jobTitle":"Chef"}"#.utf8))
    let answer = try await graph.send(change)
    #expect(answer.status == 204)
    #expect(answer.body.isEmpty)
    #expect(answer.requestID?.isEmpty == false)
    #expect(answer.clientRequestID == test.sent.last?.headers["client-request-id"])
    #expect(test.sent.last?.headers["content-type"] == "application/json")
    #expect(throws: GraphError(.invalidResponse, "")) { try answer.json() }
    let beta = try await graph.get("\(lab.baseURL)/beta/me")
    #expect(try beta.decode(GraphUser.self).displayName == "Alice Álvarez")
  }

  @Test(.conformance(73)) func `A forbidden request has advice`() async throws {
    let error = await expectGraphError(.forbidden) { try await test.graph().get("/users") }
    #expect(error?.graphCode == "Authorization_RequestDenied")
    #expect(error?.message == "Insufficient privileges to complete the operation.")
    #expect(error?.advice?.contains("scope") == true)
  }

  @Test
  func `An ambiguous path is refused, and no request is sent`() async throws {
    let graph = try test.graph()
    for path in ["/users/a_b.test#EXT#@c.test", "http://localhost/v1.0/me", "https://"] {
      await expectGraphError(.invalidRequest) { try await graph.get(path) }
    }
    let ownToken = GraphRequest("/me", headers: [.authorization: "Bearer x"])
    await expectGraphError(.invalidRequest) { try await graph.send(ownToken) }
    #expect(test.sent.isEmpty)
  }
}
