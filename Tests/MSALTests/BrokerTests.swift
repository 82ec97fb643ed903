import Foundation
import IdentityBroker
import TestSupport

@testable import MSAL

extension ApplicationTests {
  /// The machine's identity broker under MSAL's names, with a stand-in on a bus of its own.
  @Suite(.timeLimit(.minutes(20)))
  struct BrokerTests {
    private static let nativeClient = "https://login.microsoftonline.com/common/oauth2/nativeclient"

    private func application(
      _ broker: StandInBroker, _ entra: FakeEntra = FakeEntra(), redirectUri: String? = Self.nativeClient,
      configure: (MSALPublicClientApplicationConfig) -> Void = { _ in }
    ) throws -> MSALPublicClientApplication {
      try .test(entra) {
        $0.redirectUri = redirectUri
        $0.broker = LinuxBroker(
          busAddress: broker.keyring.busAddress, limit: .seconds(600),
          directory: broker.keyring.directory + "/run/llavero")
        configure($0)
      }
    }

    @Test(
      .fault("native slash"),
      arguments: [
        (nativeClient, true), ("https://login.microsoftonline.us/common/oauth2/nativeclient", true),
        ("msauth.org.example.app://auth", true), ("MSAUTH.org.example.app://auth", true),
        ("http://localhost", false), ("https://example.com/common/oauth2/other", false),
        (nativeClient + "/", false),
        ("urn:ietf:wg:oauth:2.0:oob", false), ("org.example.app://auth", false),
        ("msauth.org.example.app://other", false), ("msauth.://auth", false),
      ])
    func `Redirect URIs for a broker are recognized`(address: String, isCapable: Bool) throws {
      let url = try #require(URL(string: address))
      #expect(MSALRedirectUri(url: url).brokerCapable == isCapable)
    }

    @Test func `Accounts of the broker are listed, get tokens, and are single sign-on accounts`() async throws
    {
      let broker = try StandInBroker()
      defer { broker.kill() }
      let entra = FakeEntra()
      let application = try application(broker, entra)
      #expect(application.isCompatibleAADBrokerAvailable)
      #expect(try application.allAccounts().isEmpty)
      let account = try await application.accountOfDevice()
      #expect(account.username == "alice@contoso.test")
      #expect(account.isSSOAccount)
      let listed = await withCheckedContinuation { continuation in
        application.accountsFromDevice(for: MSALAccountEnumerationParameters()) { accounts, _ in
          continuation.resume(returning: accounts)
        }
      }
      #expect(listed == [account] && !application.config.broker.borrowsTokens)
      #expect(try await application.currentAccount(with: nil) == (account, nil))
      let result = try await application.silent(account)
      #expect(result.account.identifier == account.identifier)
      #expect(try application.allAccounts().map(\.isSSOAccount) == [true])
      // The token's claims are the only information on the device.
      let information = try await application.deviceInformation(with: nil)
      #expect(
        information.extraDeviceInformation[MSAL_PRIMARY_REGISTRATION_DEVICE_ID] as? String
          == "de000000-0000-4000-8000-000000000001")
    }

    @Test func `A refusal has the broker's version and the server's error`() async throws {
      let broker = try StandInBroker(.java, orders: #"{"do":{"acquireTokenSilently":"interaction"}}"#)
      defer { broker.kill() }
      let application = try application(broker)
      let account = try await application.accountOfDevice()
      let error = try await failure { try await application.silent(account) }
      #expect(error.domain == MSALErrorDomain && error.code == MSALError.interactionRequired.rawValue)
      #expect(error.userInfo[MSALBrokerVersionKey] as? String == "2.0.1")
      #expect(error.userInfo[MSALSTSErrorCodesKey] as? [Int] == [50078])
      #expect(error.userInfo[MSALOAuthSubErrorKey] as? String == "basic_action")
    }

    @Test func `A broker without a network is a network failure`() async throws {
      let broker = try StandInBroker(orders: #"{"do":{"acquireTokenSilently":"no-network"}}"#)
      defer { broker.kill() }
      let application = try application(broker)
      let account = try await application.accountOfDevice()
      let error = try await failure { try await application.silent(account) }
      #expect(error.domain == NSURLErrorDomain && error.code == NSURLErrorNotConnectedToInternet)
      #expect(error.userInfo[MSALBrokerVersionKey] != nil)
    }

    @Test func `Without a broker there is no device information`() async throws {
      let broker = try StandInBroker()
      broker.kill()
      let application = try application(broker)
      #expect(!application.isCompatibleAADBrokerAvailable)
      #expect(try await application.accountsFromDevice(for: MSALAccountEnumerationParameters()).isEmpty)
      #expect(try await application.deviceInformation(with: nil).extraDeviceInformation.isEmpty)
      withExtendedLifetime(broker) {}
    }

    @Test(.fault("availability")) func `Broker availability is read at each request`() async {
      // It applies to the whole process.
      await #expect(processExitsWith: .success) {
        let broker = try StandInBroker()
        defer { broker.kill() }
        MSALGlobalConfig.brokerAvailability = .none
        let application = try BrokerTests().application(broker)
        let query = MSALAccountEnumerationParameters()
        let before = Mutex(false)
        application.accountsFromDevice(for: query) { accounts, _ in
          before.withLock { $0 = accounts?.isEmpty ?? false }
        }
        guard before.withLock({ $0 }), try broker.calls().isEmpty else { exit(1) }
        MSALGlobalConfig.brokerAvailability = .auto
        guard try await application.accountsFromDevice(for: query).count == 1 else { exit(2) }
        MSALGlobalConfig.brokerAvailability = .none
        guard try await application.accountsFromDevice(for: query).isEmpty else { exit(3) }
      }
    }

    @Test(.fault("silent bus"), .timeLimit(.minutes(3)))
    func `A silent bus counts as no broker after a short wait`() throws {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/bus"
      let socket = listeningUnixSocket(SOCK_STREAM, at: path, mode: 0o600, backlog: 8)
      defer { close(socket) }
      let application = try MSALPublicClientApplication.test(FakeEntra()) {
        $0.broker = LinuxBroker(
          busAddress: "unix:path=\(path)", limit: .seconds(86_400), directory: directory.path)
      }
      // A call on the bus has a timeout of a minute.
      for _ in 0..<4 { #expect(!application.isCompatibleAADBrokerAvailable) }
    }

    @Test func `Without a redirect URI for a broker it is not asked`() async throws {
      let broker = try StandInBroker()
      defer { broker.kill() }
      for application in [
        try application(broker, redirectUri: nil),
        try application(broker) { $0.bypassRedirectURIValidation = true },
      ] {
        #expect(try await application.accountsFromDevice(for: MSALAccountEnumerationParameters()).isEmpty)
      }
      #expect(try broker.calls().isEmpty)
    }

    @Test func `The app's own refresh token is used when the broker fails, unless the broker is required`()
      async throws
    {
      let broker = try StandInBroker(orders: #"{"do":{"*":"empty"}}"#)
      defer { broker.kill() }
      // The browser signs in where the broker fails.
      let application = try application(broker)
      let account = try await application.signIn().account
      let parameters = MSALSilentTokenParameters(scopes: ["mail.read"], account: account)
      #expect(parameters.allowUsingLocalCachedRtWhenSsoExtFailed)
      parameters.allowUsingLocalCachedRtWhenSsoExtFailed = false
      let error = try await failure { try await application.acquireTokenSilent(with: parameters) }
      #expect(error.code == MSALError.internal.rawValue)
      #expect(error.internalCode == MSALInternalError.internalErrorBrokerUnknown.rawValue)
      parameters.allowUsingLocalCachedRtWhenSsoExtFailed = true
      try await application.acquireTokenSilent(with: parameters)
    }
  }
}
