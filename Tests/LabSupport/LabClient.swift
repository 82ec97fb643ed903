import BrowserSignIn
package import EntraLab
import Foundation
package import HTTPSupport
package import IdentityClient
import Logging
import ProofOfPossession
package import SoupTransport
import TestSupport
package import TokenCache

/// The client ids of the lab's apps.
package enum LabApps {
  package static let plain = "c0000000-0000-4000-8000-000000000001"
  package static let mail = "c0000000-0000-4000-8000-0000000000f1"
  package static let calendar = "c0000000-0000-4000-8000-0000000000f2"
}

extension Lab {
  package func transport(trusting caBundle: String? = nil) throws -> SoupHTTPTransport {
    try SoupHTTPTransport(caBundle: caBundle ?? caBundlePath, environment: [:])
  }

  /// A headless browser, as a command for `BROWSER`.
  package static let browser = SharedFiles.repository.appending(path: "Tests/interop/browser.py").path
}

/// A client as in a real program, with the test's lab in place of Entra ID and a headless browser.
package struct LabClient: Sendable {
  package let lab = Lab.current
  package let client: PublicClient
  package let cache: TokenCacheAccessor
  package let transport: any HTTPTransport
  private let pages = Watched<[URL]>([])

  /// Makes a client. The action is the browser's instead of a sign-in, see `browser.py`.
  package init(
    app: String = LabApps.plain, tenant: String = "common", kind: Authority.Kind? = nil,
    store: any CacheStore = InMemoryStore(), transport: (any HTTPTransport)? = nil, action: String? = nil,
    configure: (inout ClientConfiguration) -> Void = { _ in }
  ) throws {
    guard let url = URL(string: lab.authority(tenant)) else { throw CancellationError() }
    let authority = try kind.map { try Authority(url: url, kind: $0) } ?? Authority(url: url)
    self.transport = try transport ?? lab.transport()
    var configuration = ClientConfiguration(
      clientID: app, authority: authority, knownAuthorities: [authority], capabilities: [])
    configuration.httpRetryInterval = .milliseconds(1)
    configure(&configuration)
    cache = TokenCacheAccessor(store: store)
    let start = ContinuousClock.now
    client = PublicClient(
      configuration: configuration, cache: cache, transport: self.transport,
      authenticator: Self.browser(lab, action, pages), popKeys: GroupKeys(),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: { Date() },
      // Polls have no real pauses.
      timing: Timing(
        sleep: { _ in await Task.yield() }, uptime: { ContinuousClock.now - start }, turn: .seconds(600)),
      // In a private keyring's directory, which is removed when the tests end.
      lockDirectory: try PrivateKeyring.shared.get().directory + "/sign-in-locks")
  }

  private static func browser(_ lab: Lab, _ action: String?, _ pages: Watched<[URL]>) -> BrowserAuthenticator
  {
    var environment = ProcessInfo.processInfo.environment
    environment["BROWSER"] = "python3 \(Lab.browser)"
    environment["LAB_CA_BUNDLE"] = lab.caBundlePath
    environment["LAB_BROWSER_ACTION"] = action
    environment["SUDO_USER"] = nil
    let browser = SystemBrowser(environment: environment)
    return BrowserAuthenticator { page throws(IdentityError) in
      pages.change { $0.append(page.address) }
      try await browser.open(page.launchAddress)
    }
  }

  /// The ports of the redirect URIs of the pages that the browser was told to open.
  package var redirectPorts: [Int] {
    pages.read(\.self).compactMap { url in
      let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems
      let redirectURI = items?.first { $0.name == "redirect_uri" }?.value
      return redirectURI.flatMap { URL(string: $0)?.port }
    }
  }

  @discardableResult
  package func signIn(
    _ user: String = "alice", _ scopes: [String] = ["User.Read"],
    change: (inout InteractiveRequest) -> Void = { _ in }
  ) async throws -> AuthenticationResult {
    lab.configure { $0.authorize = .user(name: user) }
    var request = InteractiveRequest(scopes: scopes)
    change(&request)
    return try await client.acquireToken(request)
  }

  package func silent(
    _ account: Account, _ scopes: [String] = ["User.Read"], change: (inout SilentRequest) -> Void = { _ in }
  ) async throws(IdentityError) -> AuthenticationResult {
    var request = SilentRequest(scopes: scopes, account: account)
    change(&request)
    return try await client.acquireTokenSilent(request)
  }
}
