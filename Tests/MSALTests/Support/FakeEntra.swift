import Foundation
import HTTPSupport
import IdentityClient
import Synchronization
import TestSupport
import TokenCache

/// A token service and a user at a browser, as far as the facade's tests need them. The tests of IdentityClient check the
/// requests in detail.
final class FakeEntra: HTTPTransport, WebAuthenticator {
  enum Mood: Sendable {
    case friendly
    case offline
    /// Refuses with an error of OAuth.
    case refuses(String)
    /// The user closes the browser.
    case closed
    /// The user does nothing.
    case silent
    /// Grants only these scopes.
    case grants(String)
  }

  struct State: Sendable {
    var mood = Mood.friendly
    var nonce: String?
    var startURLs: [URL] = []
    var tokenRequests: [[String: String]] = []
    /// The timeout of each request.
    var timeouts: [Duration?] = []
    /// The users who sign in, one after the other; the last one repeats.
    var people = [Person.alice]
  }

  struct Person: Sendable {
    var objectID: String
    var tenantID = "66666666-7777-4888-8999-aaaaaaaaaaaa"
    var username: String

    static let alice = Person(
      objectID: "55555555-6666-4777-8888-999999999999", username: "alice@contoso.example")
    static let bob = Person(
      objectID: "55555555-6666-4777-8888-bbbbbbbbbbbb", username: "bob@contoso.example")

    var homeAccountID: String { "\(objectID).\(tenantID)" }

    fileprivate func tokens(scope: String, nonce: String?) -> JSONObject {
      TestPerson(uid: objectID, home: tenantID, username: username).tokens(
        at: Date(), scope: scope, access: "made-up-access-token", refresh: "made-up-refresh-token",
        nonce: nonce, idToken: ["aud": .string(FakeEntra.clientID), "name": "A Person", "ver": "2.0"])
    }
  }

  static let clientID = "11111111-2222-4333-8444-555555555555"
  private let state = Mutex(State())
  private let pages = AsyncStream<URL>.makeStream()
  private let server = ScriptedTransport()

  init() { server.script { Self.answer($0) } }

  /// Waits for the next page that the browser opens.
  func nextPage() async throws -> URL {
    for await page in pages.stream { return page }
    throw CancellationError()
  }

  func with<T>(_ body: (inout sending State) -> sending T) -> sending T { state.withLock(body) }

  var mood: Mood {
    get { state.withLock { $0.mood } }
    set { state.withLock { $0.mood = newValue } }
  }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    state.withLock { $0.timeouts.append(request.timeout) }
    if case .offline = mood { throw .cannotConnect("the network is down") }
    let seen = SeenRequest(request)
    if seen.url.path.hasSuffix("/token") {
      state.withLock { $0.tokenRequests.append(seen.form) }
      server.answerTokens(answer(to: seen.form))
    }
    return try await server.send(request)
  }

  func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    let url = try startURL(redirectURI ?? URL(string: "http://localhost:8080") ?? URL(filePath: "/"))
    let asked = FormEncoding.decode((url.query(percentEncoded: true) ?? "").utf8) ?? [:]
    state.withLock {
      $0.startURLs.append(url)
      $0.nonce = asked["nonce"]
    }
    pages.continuation.yield(url)
    switch mood {
    case .closed: throw IdentityError(.userCanceled, "The browser was closed.")
    case .silent:
      // Ends when the task is cancelled.
      let (stream, continuation) = AsyncStream<Never>.makeStream()
      for await _ in stream {}
      continuation.finish()
      throw IdentityError(.cancelled, "The sign-in was cancelled.")
    default: return ["state": asked["state"] ?? "", "code": "a-code"]
    }
  }

  private func answer(to form: [String: String]) -> ScriptedAnswer {
    if case .refuses(let error) = mood { return .refusal(error, code: 50076) }
    let (person, nonce) = state.withLock { state in
      let isSignIn = form["grant_type"] != "refresh_token"
      let person = isSignIn && state.people.count > 1 ? state.people.removeFirst() : state.people[0]
      return (person, isSignIn ? state.nonce : nil)
    }
    var scope = form["scope"] ?? "user.read openid profile"
    if case .grants(let scopes) = mood { scope = scopes }
    return .json(person.tokens(scope: scope, nonce: nonce))
  }

  private static func answer(_ request: SeenRequest) -> ScriptedAnswer? {
    if request.url.path.hasSuffix("/discovery/instance") { return .json(instances) }
    return request.url.path.hasSuffix("/devicecode") ? .json(deviceCode) : nil
  }

  private static let instances: JSONObject = [
    "tenant_discovery_endpoint":
      "https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration",
    "metadata": .array([
      .object([
        "preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net",
        "aliases": .array(["login.microsoftonline.com", "login.windows.net"]),
      ])
    ]),
  ]

  private static let deviceCode: JSONObject = [
    "device_code": "a-device-code", "user_code": "ABCD-EFGH", "interval": .integer(1),
    "expires_in": .integer(900), "verification_uri": "https://microsoft.com/devicelogin",
    "message": "Enter ABCD-EFGH.",
  ]
}
