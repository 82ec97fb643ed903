import BrowserSignIn
import EntraLab
import Foundation
import HTTPSupport
import HTTPTypes
import IdentityClient
import Logging
import ProofOfPossession
import SoupTransport
import Synchronization
import Testing
import TestSupport
import TokenCache

/// The client ids of the lab's apps.
enum LabApps {
  static let plain = "c0000000-0000-4000-8000-000000000001"
  static let mail = "c0000000-0000-4000-8000-0000000000f1"
  static let calendar = "c0000000-0000-4000-8000-0000000000f2"
}

/// Everything as in a program of the person's own, with the lab in Entra ID's place and a browser without
/// eyes.
struct LabClient: Sendable {
  let lab: Lab
  let client: PublicClient
  let cache: TokenCacheAccessor
  let transport: any HTTPTransport
  let pages = OpenedPages()

  // The action is what the browser does besides signing in, see browser.py; `exchange` sends requests instead.
  init(
    _ lab: Lab, app: String = LabApps.plain, tenant: String = "common", kind: Authority.Kind? = nil,
    store: any CacheStore = InMemoryStore(), caBundle: String? = nil, action: String? = nil,
    configure: (inout ClientConfiguration) -> Void = { _ in }, exchange: ChangedTransport.Exchange? = nil
  ) throws {
    self.lab = lab
    guard let url = URL(string: lab.authority(tenant)) else { throw CancellationError() }
    let authority = try kind.map { try Authority(url: url, kind: $0) } ?? Authority(url: url)
    let soup = try SoupHTTPTransport(caBundle: caBundle ?? lab.caBundlePath, environment: [:])
    transport = exchange.map { ChangedTransport(base: soup, exchange: $0) } ?? soup
    var configuration = ClientConfiguration(
      clientID: app, authority: authority, knownAuthorities: [authority], capabilities: [])
    configuration.httpRetryInterval = .milliseconds(1)
    configure(&configuration)
    cache = TokenCacheAccessor(store: store)
    let start = ContinuousClock.now
    client = PublicClient(
      configuration: configuration, cache: cache,
      transport: transport, authenticator: Self.browser(lab, action, pages), popKeys: GroupKeys(),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: { Date() },
      // Nobody waits for real between two polls.
      timing: Timing(sleep: { _ in await Task.yield() }, uptime: { ContinuousClock.now - start }),
      // In a private keyring's directory, which goes when the tests end, however they do.
      lockDirectory: try PrivateKeyring.shared.get().directory + "/sign-in-locks")
  }

  private static func browser(
    _ lab: Lab, _ action: String?, _ pages: OpenedPages
  ) -> BrowserAuthenticator {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "interop/browser.py")
    var environment = ProcessInfo.processInfo.environment
    environment["BROWSER"] = "python3 \(script.path)"
    environment["LAB_CA_BUNDLE"] = lab.caBundlePath
    environment["LAB_BROWSER_ACTION"] = action
    environment["SUDO_USER"] = nil
    let browser = SystemBrowser(environment: environment)
    return BrowserAuthenticator { page throws(IdentityError) in
      pages.add(page.address)
      try await browser.open(page.launchAddress)
    }
  }

  @discardableResult
  func signIn(
    _ user: String = "alice", _ scopes: [String] = ["User.Read"],
    change: (inout InteractiveRequest) -> Void = { _ in }
  ) async throws -> AuthenticationResult {
    lab.configure { $0.authorize = .user(name: user) }
    var request = InteractiveRequest(scopes: scopes)
    change(&request)
    return try await client.acquireToken(request)
  }

  func silent(
    _ account: Account, _ scopes: [String] = ["User.Read"], change: (inout SilentRequest) -> Void = { _ in }
  ) async throws(IdentityError) -> AuthenticationResult {
    var request = SilentRequest(scopes: scopes, account: account)
    change(&request)
    return try await client.acquireTokenSilent(request)
  }

  /// Asks the lab's API for bound tokens, as the request that a result was signed for, unless told otherwise.
  func protected(
    _ result: AuthenticationResult, path: String = "/orders", method: HTTPRequest.Method = .get
  ) async throws -> (status: Int, error: String?) {
    let url = try #require(URL(string: lab.protectedURL + path))
    var head = HTTPRequest(
      method: method, scheme: "https", authority: "localhost:\(try #require(url.port))",
      path: url.path(percentEncoded: true))
    head.headerFields[.authorization] = result.authorizationHeader
    let answer = try await transport.send(HTTPTransportRequest(head))
    let fields = try JSONDecoder().decode([String: String].self, from: answer.body)
    return (answer.head.status.code, fields["error"])
  }

  /// The scheme for a request to that API.
  func popScheme(_ path: String = "/orders", method: String = "GET", nonce: String? = nil) throws -> PopScheme
  {
    PopScheme(
      httpMethod: method, url: try #require(URL(string: lab.protectedURL + path)), nonce: nonce)
  }

  /// Asks the lab's Graph who is signed in.
  func graph(_ result: AuthenticationResult) async throws -> HTTPTransportResponse {
    let url = try #require(URL(string: lab.graphURL + "/me"))
    let port = try #require(url.port)
    var head = HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(port)", path: url.path)
    head.headerFields[.authorization] = result.authorizationHeader
    return try await transport.send(HTTPTransportRequest(head))
  }

  func recordCount() async throws -> Int { try await cache.snapshot().document.recordCount }

  func refreshTokens() async throws -> [String] {
    try await cache.snapshot().document.refreshTokens.values.compactMap(\.secret)
  }
}

/// The pages that the browser was told to open.
final class OpenedPages: Sendable {
  private let urls = Mutex<[URL]>([])

  func add(_ url: URL) { urls.withLock { $0.append(url) } }

  /// The ports that the answers were to come to.
  var redirectPorts: [Int] {
    urls.withLock { $0 }.compactMap { url in
      let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems
      let redirectURI = items?.first { $0.name == "redirect_uri" }?.value
      return redirectURI.flatMap { URL(string: $0)?.port }
    }
  }
}

/// A transport whose requests and answers a test changes.
struct ChangedTransport: HTTPTransport {
  typealias Exchange =
    @Sendable (HTTPTransportRequest, SoupHTTPTransport) async throws(HTTPTransportError)
    -> HTTPTransportResponse

  let base: SoupHTTPTransport
  let exchange: Exchange

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    try await exchange(request, base)
  }
}

/// Waits until nobody listens on a port of the loopback interface. A listener gives it back on its own thread.
func portCloses(_ port: Int) async throws {
  try await eventually { !isListening(port) }
}

private func isListening(_ port: Int) -> Bool {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}
