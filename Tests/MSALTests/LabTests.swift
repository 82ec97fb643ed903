import EntraLab
import Foundation
import HTTPSupport
import HTTPTypes
import MSAL
import ProofOfPossession
import SoupTransport
import Synchronization
import TestSupport
import Testing
import TokenCache

extension ApplicationTests {
  /// The public initializer and all that stands behind it, against a token service on this machine with TLS.
  struct LabTests {
    private static let clientID = "c0000000-0000-4000-8000-000000000001"

    @Test(.conformance(54))
    func `A program signs in by device code at a server with a certificate of its own`() async throws {
      try await withLab { lab async throws in
        lab.configure { $0.deviceInterval = 1 }
        MSALGlobalConfig.httpConfig.certificateAuthorities = URL(fileURLWithPath: lab.caBundlePath)
        defer { MSALGlobalConfig.httpConfig.certificateAuthorities = nil }
        let application = try Self.application(lab)

        let parameters = MSALDeviceCodeTokenParameters(scopes: ["User.Read"]) { code in
          #expect(throws: Never.self) { try lab.approveDevice(userCode: code.userCode, as: "alice") }
        }
        let result = try await application.acquireToken(with: parameters)
        #expect(result.account.username?.hasPrefix("alice") == true)
        #expect(try application.allAccounts() == [result.account])

        let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: result.account)
        silent.forceRefresh = true
        let refreshed = try await application.acquireTokenSilent(with: silent)
        #expect(refreshed.accessToken != result.accessToken)

        try application.remove(result.account)
        #expect(try application.allAccounts().isEmpty)
      }
    }

    @Test(.conformance(61))
    func `A server whose certificate nobody trusts is an error of the network`() async throws {
      try await withLab { lab async throws in
        let application = try Self.application(lab)
        let parameters = MSALDeviceCodeTokenParameters(scopes: ["User.Read"]) { _ in }
        do {
          try await application.acquireToken(with: parameters)
          Issue.record("The certificate should not be trusted.")
        } catch let error as NSError {
          #expect(error.domain == NSURLErrorDomain)
          #expect(error.code == NSURLErrorServerCertificateUntrusted)
        }
      }
    }

    @Test func `A bound token comes in a signed request, each time another, and serves its API`() async throws
    {
      try await withLab { lab async throws in
        lab.configure { $0.deviceInterval = 1 }
        MSALGlobalConfig.httpConfig.certificateAuthorities = URL(fileURLWithPath: lab.caBundlePath)
        defer { MSALGlobalConfig.httpConfig.certificateAuthorities = nil }
        let application = try Self.application(lab) { $0.popKeys = GroupKeys() }
        let url = try #require(URL(string: lab.protectedURL + "/orders"))
        let scheme = MSALAuthenticationSchemePop(
          httpMethod: .GET, request: url, nonce: nil, additionalParameters: nil)
        #expect(scheme.scheme == .pop && scheme.authenticationScheme == "Pop")

        let parameters = MSALDeviceCodeTokenParameters(scopes: ["User.Read"]) { code in
          #expect(throws: Never.self) { try lab.approveDevice(userCode: code.userCode, as: "alice") }
        }
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
          let transport = try SoupHTTPTransport(caBundle: lab.caBundlePath, environment: [:])
          #expect(try await transport.send(HTTPTransportRequest(head)).head.status == .ok)
        }

        silent.authenticationScheme = MSALAuthenticationSchemeBearer()
        let bearer = try await application.acquireTokenSilent(with: silent)
        #expect(bearer.authorizationHeader == "Bearer " + bearer.accessToken)
        #expect(application.configuration.popKeys != nil)
      }
    }

    @Test func `Certificates that are named when the application is there count from then on`() async throws {
      try await withLab { lab async throws in
        lab.configure { $0.deviceInterval = 1 }
        let application = try Self.application(lab)
        let parameters = MSALDeviceCodeTokenParameters(scopes: ["User.Read"]) { code in
          #expect(throws: Never.self) { try lab.approveDevice(userCode: code.userCode, as: "alice") }
        }
        await #expect(throws: NSError.self) { try await application.acquireToken(with: parameters) }
        MSALGlobalConfig.httpConfig.certificateAuthorities = URL(fileURLWithPath: lab.caBundlePath)
        defer { MSALGlobalConfig.httpConfig.certificateAuthorities = nil }
        let result = try await application.acquireToken(with: parameters)
        #expect(result.account.username?.hasPrefix("alice") == true)

        MSALGlobalConfig.httpConfig.certificateAuthorities = URL(fileURLWithPath: "/proc/nonexistent")
        let silent = MSALSilentTokenParameters(scopes: ["User.Read"], account: result.account)
        silent.forceRefresh = true
        let error = await #expect(throws: NSError.self) {
          try await application.acquireTokenSilent(with: silent)
        }
        #expect(error?.domain == NSURLErrorDomain && error?.code == NSURLErrorBadURL)
      }
    }

    private static func application(
      _ lab: Lab, _ configure: (MSALPublicClientApplicationConfig) -> Void = { _ in }
    ) throws -> MSALPublicClientApplication {
      let authority = try MSALAADAuthority(url: #require(URL(string: lab.authority())))
      let config = MSALPublicClientApplicationConfig(
        clientId: clientID, redirectUri: nil, authority: authority)
      config.knownAuthorities = [authority]
      config.cacheConfig.store = InMemoryStore()
      configure(config)
      return try MSALPublicClientApplication(configuration: config)
    }
  }
}
