import Foundation
import KeyringStore
import Lending
import SecretService
import SoupTransport
import TestSupport

@testable import MSAL

extension ApplicationTests {
  /// Borrowed tokens under MSAL's names.
  @Suite(.timeLimit(.minutes(20)))
  struct LoanTests {
    /// An application without a cache that borrows from a server; Entra ID is not asked.
    private func application(
      borrowingFrom server: RawServer
    ) async throws -> (MSALPublicClientApplication, MSALPublicClientApplicationConfig, FakeEntra) {
      let lender = LoanBroker(transport: try SoupHTTPTransport(unixSocket: server.path))
      let terms = try await lender.terms()
      let config = MSALPublicClientApplicationConfig(
        clientId: terms.clientID, redirectUri: nil, authority: try MSALAuthority(url: terms.authority.url))
      config.tokenBroker = lender
      config.cacheConfig.store = InMemoryStore()
      let entra = FakeEntra()
      let application = try MSALPublicClientApplication(
        configuration: config, transport: entra.server, authenticator: entra.browser)
      return (application, config, entra)
    }

    @Test func `An application without a cache gets borrowed tokens and stores none`() async throws {
      let lender = try ScriptedLender { _ in (200, LentThings.token()) }
      let (application, config, entra) = try await application(borrowingFrom: lender.server)
      let account = try await application.accountOfDevice()
      #expect(account.username == "alice@contoso.test" && !account.isSSOAccount)
      let result = try await application.silent(account)
      #expect(result.accessToken == "lent-token" && result.account.identifier == account.identifier)
      #expect(try application.allAccounts().isEmpty)
      #expect(lender.server.requests.count == 3)
      let refusal = try await failure { try await application.signIn() }
      #expect(refusal.code == MSALError.interactionRequired.rawValue)
      // A cache that is unavailable.
      config.cacheConfig.store = KeyringCacheStore(
        SecretServiceConnection(busAddress: "unix:path=/proc/nonexistent"))
      let without = try MSALPublicClientApplication(
        configuration: config, transport: entra.server, authenticator: entra.browser)
      #expect(try await without.currentAccount(with: nil).0 == account)
      config.tokenBroker = LoanBroker(
        transport: try SoupHTTPTransport(unixSocket: lender.directory.path + "/none.sock"))
      let alone = try MSALPublicClientApplication(
        configuration: config, transport: entra.server, authenticator: entra.browser)
      let error = try await failure { try await alone.accountOfDevice() }
      #expect(error.internalCode == MSALInternalError.internalBrokerNotAvailable.rawValue)
    }

    @Test func `A lender that cannot reach the server is a network failure`() async throws {
      let lender = try ScriptedLender { _ in
        (503, LentThings.refusal("temporarily_unavailable", 503, "Offline."))
      }
      let (application, _, _) = try await application(borrowingFrom: lender.server)
      let account = try await application.accountOfDevice()
      let error = try await failure { try await application.silent(account) }
      #expect(error.domain == NSURLErrorDomain && error.code == NSURLErrorCannotConnectToHost)
    }
  }
}
