import Foundation
import LabSupport
import MSAL
import ProofOfPossession

extension ApplicationTests {
  /// The public initializer with its defaults, and a token service on this machine over TLS.
  @Suite(.lab)
  struct LabTests {
    private let lab = Lab.current

    init() { lab.configure { $0.deviceInterval = 1 } }

    @Test(.conformance(54))
    func `A program signs in by device code at a server with its own CA`() async throws {
      trust(lab.caBundlePath)
      defer { trust(nil) }
      let application = try application()

      let parameters = approvedByAlice()
      let result = try await application.acquireToken(with: parameters)
      #expect(result.account.username?.hasPrefix("alice") == true)
      #expect(try application.allAccounts() == [result.account])

      let refreshed = try await application.silent(result.account, ["User.Read"], forceRefresh: true)
      #expect(refreshed.accessToken != result.accessToken)

      try application.remove(result.account)
      #expect(try application.allAccounts().isEmpty)
    }

    @Test(.conformance(61))
    func `An untrusted server certificate is a network error`() async throws {
      let application = try application()
      let parameters = MSALDeviceCodeTokenParameters(scopes: ["User.Read"]) { _ in }
      let error = try await failure { try await application.acquireToken(with: parameters) }
      #expect(error.domain == NSURLErrorDomain)
      #expect(error.code == NSURLErrorServerCertificateUntrusted)
      #expect((error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.host == URL(string: lab.baseURL)?.host)
    }

    @Test func `A bound token gets a new signed request each time, which its API accepts`() async throws {
      trust(lab.caBundlePath)
      defer { trust(nil) }
      let application = try application { $0.popKeys = GroupKeys() }
      let url = try #require(URL(string: lab.protectedURL + "/orders"))
      let scheme = MSALAuthenticationSchemePop(
        httpMethod: .GET, request: url, nonce: nil, additionalParameters: nil)
      #expect(scheme.scheme == .pop && scheme.authenticationScheme == "Pop")

      let parameters = approvedByAlice()
      parameters.authenticationScheme = scheme
      let first = try await application.acquireToken(with: parameters)
      let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: first.account)
      silent.authenticationScheme = scheme
      let second = try await application.acquireTokenSilent(with: silent)
      #expect(first.accessToken != second.accessToken)
      #expect(lab.requests(to: .token).filter { $0.form["req_cnf"] != nil && $0.status == 200 }.count == 1)
      for result in [first, second] {
        #expect(result.authenticationScheme == "Pop")
        #expect(result.authorizationHeader == "Pop " + result.accessToken)
        let head = HTTPRequest(
          method: .get, url: url, headerFields: [.authorization: result.authorizationHeader])
        #expect(try await lab.transport().send(HTTPTransportRequest(head)).head.status == .ok)
      }

      silent.authenticationScheme = MSALAuthenticationSchemeBearer()
      let bearer = try await application.acquireTokenSilent(with: silent)
      #expect(bearer.authorizationHeader == "Bearer " + bearer.accessToken)
      #expect(application.configuration.popKeys != nil)
    }

    @Test(.fault("CA changes"))
    func `A CA bundle set later applies to the next request`() async throws {
      let application = try application()
      let parameters = approvedByAlice()
      await #expect(throws: NSError.self) { try await application.acquireToken(with: parameters) }
      trust(lab.caBundlePath)
      defer { trust(nil) }
      let result = try await application.acquireToken(with: parameters)
      #expect(result.account.username?.hasPrefix("alice") == true)

      trust("/proc/nonexistent")
      let error = try await failure {
        try await application.silent(result.account, ["User.Read"], forceRefresh: true)
      }
      #expect(error.domain == NSURLErrorDomain && error.code == NSURLErrorBadURL)
    }

    /// A request that is approved as soon as its code is shown.
    private func approvedByAlice() -> MSALDeviceCodeTokenParameters {
      MSALDeviceCodeTokenParameters(scopes: ["User.Read"]) { code in
        #expect(throws: Never.self) { try lab.approveDevice(userCode: code.userCode, as: "alice") }
      }
    }

    private func trust(_ caBundle: String?) {
      MSALGlobalConfig.httpConfig.certificateAuthorities = caBundle.map { URL(fileURLWithPath: $0) }
    }

    private func application(
      _ configure: (MSALPublicClientApplicationConfig) -> Void = { _ in }
    ) throws -> MSALPublicClientApplication {
      let authority = try MSALAADAuthority(url: #require(URL(string: lab.authority())))
      let config = MSALPublicClientApplicationConfig(
        clientId: LabApps.plain, redirectUri: nil, authority: authority)
      config.knownAuthorities = [authority]
      config.cacheConfig.store = InMemoryStore()
      configure(config)
      return try MSALPublicClientApplication(configuration: config)
    }
  }
}
