import BrowserSignIn
import EntraLab
import Foundation
import HTTPTransport
import IdentityClient
import Logging
import SoupTransport
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
  let lab: EntraLab
  let client: PublicClient
  let cache: TokenCacheAccessor

  init(
    _ lab: EntraLab, app: String = LabApps.plain, tenant: String = "common",
    store: any CacheStore = InMemoryStore(), caBundle: String? = nil,
    configure: (inout ClientConfiguration) -> Void = { _ in }
  ) throws {
    self.lab = lab
    guard let url = URL(string: lab.authority(tenant)) else { throw CancellationError() }
    let authority = try Authority(url: url)
    var configuration = ClientConfiguration(
      clientID: app, authority: authority, knownAuthorities: [authority], capabilities: [])
    configuration.httpRetryInterval = .milliseconds(1)
    configure(&configuration)
    cache = TokenCacheAccessor(store: store)
    let start = ContinuousClock.now
    client = PublicClient(
      configuration: configuration, cache: cache,
      transport: try SoupTransport(caBundle: caBundle ?? lab.caBundlePath, environment: [:]),
      authenticator: Self.browser(lab),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: { Date() },
      // Nobody waits for real between two polls.
      timing: Timing(sleep: { _ in await Task.yield() }, uptime: { ContinuousClock.now - start }),
      lockDirectory: NSTemporaryDirectory() + "llavero-sign-in-tests-\(getpid())")
  }

  private static func browser(_ lab: EntraLab) -> BrowserAuthenticator {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "browser.py")
    var environment = ProcessInfo.processInfo.environment
    environment["BROWSER"] = "python3 \(script.path)"
    environment["LAB_CA_BUNDLE"] = lab.caBundlePath
    environment["SUDO_USER"] = nil
    let browser = SystemBrowser(environment: environment)
    return BrowserAuthenticator { url throws(IdentityError) in try await browser.open(url) }
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

  func refreshTokens() async throws -> [String] {
    try await cache.export().document.refreshTokens.values.compactMap(\.secret)
  }
}

/// Starts a lab for one test and ends it afterwards.
func withLab<T: Sendable>(_ body: (EntraLab) async throws -> T) async throws -> T {
  let lab = try await EntraLab.start()
  do {
    let result = try await body(lab)
    await lab.stop()
    return result
  } catch {
    await lab.stop()
    throw error
  }
}
