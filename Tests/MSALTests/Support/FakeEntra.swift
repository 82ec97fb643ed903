import Foundation
import HTTPSupport
import HTTPTypes
import IdentityClient
import Synchronization

/// A token service and a person at a browser, as far as the facade's tests need them. What they do with requests
/// in detail is the business of the tests of IdentityClient.
final class FakeEntra: HTTPTransport, WebAuthenticator {
  enum Mood: Sendable {
    case friendly
    case offline
    /// Refuses with an error of OAuth.
    case refuses(String)
    /// The person closes the browser.
    case closed
    /// The person does nothing.
    case silent
    /// Grants only these scopes.
    case grants(String)
  }

  struct State: Sendable {
    var mood = Mood.friendly
    var nonce: String?
    var startURLs: [URL] = []
    var tokenRequests: [[String: String]] = []
    /// How long each request was allowed to take.
    var timeouts: [Duration?] = []
    /// The people who sign in, one after the other; the last one stays.
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
  }

  static let clientID = "11111111-2222-4333-8444-555555555555"
  private let state = Mutex(State())
  private let pages = AsyncStream<URL>.makeStream()

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
    let path = request.head.path ?? ""
    state.withLock { $0.timeouts.append(request.timeout) }
    if case .offline = mood { throw .cannotConnect("the network is down") }
    if path.contains("/.well-known/openid-configuration") { return answer(discovery(path)) }
    if path.contains("/discovery/instance") { return answer(instances) }
    if path.hasSuffix("/devicecode") { return answer(deviceCode) }
    let form = parameters(of: String(decoding: request.body ?? Data(), as: UTF8.self))
    state.withLock { $0.tokenRequests.append(form) }
    if case .refuses(let error) = mood {
      return answer(
        ["error": error, "error_description": "AADSTS50076: refused", "error_codes": [50076]], status: 400)
    }
    return answer(tokens(form))
  }

  func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    let url = try startURL(redirectURI ?? URL(string: "http://localhost:8080") ?? URL(filePath: "/"))
    let asked = parameters(of: url.query ?? "")
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

  private func tokens(_ form: [String: String]) -> [String: Any] {
    let (person, nonce) = state.withLock { state in
      let isSignIn = form["grant_type"] != "refresh_token"
      let person = isSignIn && state.people.count > 1 ? state.people.removeFirst() : state.people[0]
      return (person, isSignIn ? state.nonce : nil)
    }
    let now = Int(Date().timeIntervalSince1970)
    var claims: [String: Any] = [
      "iss": "https://login.microsoftonline.com/\(person.tenantID)/v2.0", "aud": Self.clientID,
      "oid": person.objectID, "sub": person.objectID, "tid": person.tenantID,
      "preferred_username": person.username, "name": "A Person", "exp": now + 3600, "iat": now, "ver": "2.0",
    ]
    claims["nonce"] = nonce
    let header = encoded(["alg": "RS256", "typ": "JWT"])
    var scope = form["scope"] ?? "user.read openid profile"
    if case .grants(let scopes) = mood { scope = scopes }
    return [
      "token_type": "Bearer", "access_token": "made-up-access-token",
      "refresh_token": "made-up-refresh-token",
      "expires_in": 3600, "scope": scope, "id_token": "\(header).\(encoded(claims)).signature",
      "client_info": encoded(["uid": person.objectID, "utid": person.tenantID]),
    ]
  }

  private func discovery(_ path: String) -> [String: Any] {
    let tenant = path.split(separator: "/").first ?? "common"
    let base = "https://login.microsoftonline.com/\(tenant)"
    return [
      "issuer": "https://login.microsoftonline.com/{tenantid}/v2.0",
      "authorization_endpoint": "\(base)/oauth2/v2.0/authorize",
      "token_endpoint": "\(base)/oauth2/v2.0/token",
      "device_authorization_endpoint": "\(base)/oauth2/v2.0/devicecode",
      "end_session_endpoint": "\(base)/oauth2/v2.0/logout",
    ]
  }

  private var instances: [String: Any] {
    [
      "tenant_discovery_endpoint":
        "https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration",
      "metadata": [
        [
          "preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net",
          "aliases": ["login.microsoftonline.com", "login.windows.net"],
        ]
      ],
    ]
  }

  private var deviceCode: [String: Any] {
    [
      "device_code": "a-device-code", "user_code": "ABCD-EFGH", "interval": 1, "expires_in": 900,
      "verification_uri": "https://microsoft.com/devicelogin", "message": "Enter ABCD-EFGH.",
    ]
  }

  private func answer(_ fields: [String: Any], status: Int = 200) -> HTTPTransportResponse {
    let head = HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"])
    return HTTPTransportResponse(head, body: json(fields))
  }

  private func json(_ fields: [String: Any]) -> Data {
    (try? JSONSerialization.data(withJSONObject: fields)) ?? Data()
  }

  private func encoded(_ fields: [String: Any]) -> String {
    json(fields).base64EncodedString().replacingOccurrences(of: "=", with: "")
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
  }

  private func parameters(of query: String) -> [String: String] {
    let pairs = query.split(separator: "&").map { pair in
      pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
      }
    }
    return Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { first, _ in first }
  }
}
