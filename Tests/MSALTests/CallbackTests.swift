import Foundation
@testable import MSAL
import TestSupport

extension ApplicationTests {
  /// The queues of completion blocks, and the class methods for sign-ins.
  struct CallbackTests {
    private let entra = FakeEntra()
    private let application: MSALPublicClientApplication
    private let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "test")

    init() throws {
      application = try .test(entra)
      queue.setSpecific(key: key, value: true)
    }

    @Test func `Sign in and sign out answer on the main queue`() async throws {
      let parameters = MSALInteractiveTokenParameters.userRead()
      let account = await withCheckedContinuation { continuation in
        application.acquireToken(with: parameters) { result, _ in
          dispatchPrecondition(condition: .onQueue(.main))
          continuation.resume(returning: result?.account)
        }
      }
      let signOut = MSALSignoutParameters(webviewParameters: MSALWebviewParameters())
      await withCheckedContinuation { continuation in
        application.signout(with: account!, signoutParameters: signOut) { done, error in
          dispatchPrecondition(condition: .onQueue(.main))
          #expect(done && error == nil)
          continuation.resume()
        }
      }
    }

    @Test func `Completion blocks run on the queue of the parameters, else not on the caller's`()
      async throws
    {
      let parameters = MSALInteractiveTokenParameters.userRead()
      parameters.completionBlockQueue = queue
      await withCheckedContinuation { continuation in
        application.acquireToken(with: parameters) { _, _ in
          #expect(DispatchQueue.getSpecific(key: key) == true)
          continuation.resume()
        }
      }
      let enumeration = MSALAccountEnumerationParameters()
      enumeration.completionBlockQueue = queue
      await withCheckedContinuation { continuation in
        application.accountsFromDevice(for: enumeration) { accounts, error in
          #expect(accounts?.count == 1 && error == nil)
          #expect(DispatchQueue.getSpecific(key: key) == true)
          continuation.resume()
        }
      }
      let account = try #require(try application.allAccounts().first)
      await withCheckedContinuation { continuation in
        queue.async {
          let silent = MSALSilentTokenParameters(scopes: ["user.read"], account: account)
          application.acquireTokenSilent(with: silent) { result, _ in
            #expect(result != nil && DispatchQueue.getSpecific(key: key) == nil)
            continuation.resume()
          }
        }
      }
    }

    @Test(.fault("early block"))
    func `Without a queue, calls without a broker complete before they return`() async throws {
      _ = try await application.signIn()
      let called = Mutex<[String]>([])
      let note = { @Sendable (text: String?, error: (any Error)?) in
        called.withLock { $0.append(text ?? "\((error as NSError?)?.code ?? 0)") }
      }
      application.getCurrentAccount(with: nil) { account, _, error in note(account?.username, error) }
      #expect(called.withLock { $0 } == ["alice@contoso.test"])
      application.accountsFromDevice(for: MSALAccountEnumerationParameters()) { accounts, error in
        note(accounts?.first?.username, error)
      }
      #expect(called.withLock { $0.count } == 2)
      application.getDeviceInformation(with: MSALParameters()) { information, error in
        note(information.map { "\($0.deviceMode.rawValue)" }, error)
      }
      #expect(called.withLock { $0 }.dropFirst() == ["alice@contoso.test", "0"])
      application.getWPJMetaDataDevice(with: nil, forTenantId: nil) { _, error in note(nil, error) }
      application.getDeviceTokenForSharedDevice(withResource: "r", scopes: nil) { _, error in note(nil, error)
      }
      let device = MSALDeviceTokenParameters(resource: "r", scopes: nil, forTenantId: "t")
      application.getDeviceToken(with: device) { _, error in note(nil, error) }
      #expect(called.withLock { $0 }.dropFirst(3) == ["-50000", "-50000", "-50000"])
      // With a queue it is called there, and only then.
      await withCheckedContinuation { continuation in
        queue.async {
          let parameters = MSALParameters()
          parameters.completionBlockQueue = queue
          application.getCurrentAccount(with: parameters) { _, _, _ in
            note("later", nil)
            continuation.resume()
          }
          #expect(called.withLock { $0.count } == 6)
        }
      }
    }

    @Test(.fault("early block")) func `A cache failure is reported before the call returns`() throws {
      let application = try MSALPublicClientApplication.test(entra, store: ScriptedStore.locked)
      let called = Mutex<[String]>([])
      application.getCurrentAccount(with: nil) { account, _, error in
        called.withLock { $0.append((error as NSError?)?.domain ?? "none") }
      }
      #expect(called.withLock { $0 } == [NSOSStatusErrorDomain])
    }

    @Test func `A refused request reports its error to the block`() async throws {
      let parameters = MSALDeviceCodeTokenParameters(scopes: [" "]) { _ in }
      await withCheckedContinuation { continuation in
        application.acquireToken(with: parameters) { result, error in
          #expect(result == nil && (error as NSError?)?.code == MSALError.internal.rawValue)
          continuation.resume()
        }
      }
    }

    @Test func `The waiting sign-in can be cancelled by its class`() async throws {
      #expect(!MSALPublicClientApplication.cancelCurrentWebAuthSession())
      entra.browser.idle()
      let task = Task { try await application.signIn() }
      _ = try await entra.browser.nextPage()
      #expect(MSALPublicClientApplication.cancelCurrentWebAuthSession())
      let error = try await failure { try await task.value }
      #expect(error.domain == MSALErrorDomain && error.code == MSALError.userCanceled.rawValue)
    }

    @Test func `A sign-in can begin before a cancelled one has ended`() async throws {
      let gate = Gate()
      defer { gate.open() }
      entra.browser.idle(gate)
      let first = Task { try await application.signIn() }
      _ = try await entra.browser.nextPage()
      #expect(MSALPublicClientApplication.cancelCurrentWebAuthSession())
      entra.browser.answer()
      _ = try await application.signIn()
      gate.open()
      let error = try await failure { try await first.value }
      #expect(error.code == MSALError.userCanceled.rawValue)
      _ = try await application.signIn()
    }

    @Test func `Blocking calls from every thread of the pool finish`() async throws {
      _ = try await application.signIn()
      let counts = try await atOnce(0..<64) { _ in try application.allAccounts().count }
      #expect(counts == Array(repeating: 1, count: 64))
    }

    @Test func `Log messages reach the callback`() async throws {
      let id = UUID()
      let messages = try await loggedMessages {
        let parameters = MSALInteractiveTokenParameters.userRead()
        parameters.correlationId = id
        _ = try await application.acquireToken(with: parameters)
      }
      #expect(
        messages.contains { $0.text.contains(" - \(id.uuidString.lowercased())] The server responded.") })
      #expect(
        messages.allSatisfy { $0.text.contains(#/^MSAL [0-9.]+(?:~dev\S*)? Linux \[\d{4}-[-0-9T:Z]+[\] ]/#) })
      for message in messages {
        #expect(message.level != .nothing && !message.containsPII)
        #expect(!message.text.contains("made-up") && !message.text.contains("alice"))
      }
    }

    @Test func `Another library's accounts are listed, and their changes are reported`() async throws {
      let provider = ExternalAccounts()
      let application = try MSALPublicClientApplication.test(entra) {
        $0.cacheConfig.addExternalAccountProvider(provider)
      }
      let account = try await application.signIn().account
      // A cached token changes nothing that they do not know.
      try await application.silent(account, ["User.Read"])
      // What another library knows of an account is added to what is known already.
      provider.alice.withLock { $0 = MSALAccount(account.account.with(tenant: "fabrikam")) }
      let accounts = try application.allAccounts()
      #expect(accounts.map(\.username) == ["alice@contoso.test", "carol@contoso.example"])
      #expect(
        accounts[0].tenantProfiles?.map(\.tenantId)
          == account.tenantProfiles.map { $0.map(\.tenantId) + ["fabrikam"] })
      try application.remove(account)
      #expect(
        provider.events.withLock { $0 } == ["update alice@contoso.test", "remove alice@contoso.test"])
    }

    @Test func `Another library's account that was signed out is not listed`() async throws {
      let provider = ExternalAccounts()
      let application = try MSALPublicClientApplication.test(entra) {
        $0.cacheConfig.addExternalAccountProvider(provider)
      }
      let alice = try await application.signIn().account
      let error = try await failure { try await application.currentAccount(with: nil) }
      #expect(error.internalCode == -42102)
      let carol = try application.account(forUsername: "carol@contoso.example")
      #expect(throws: NSError.self) { try application.account(forUsername: "missing@contoso.example") }
      // The provider keeps the account.
      try application.remove(carol)
      #expect(try application.allAccounts() == [alice])
      #expect(try await application.currentAccount(with: nil).0 == alice)
      let parameters = MSALAccountEnumerationParameters()
      parameters.returnOnlySignedInAccounts = false
      #expect(try application.accounts(for: parameters) == [alice, carol])
      // Of two with one name the application's own comes first.
      let name = try #require(alice.username)
      provider.alice.withLock {
        $0 = MSALAccount(username: name, homeAccountId: MSALAccountId(identifier: "alice.fabrikam"))
      }
      #expect(try application.account(forUsername: name) == alice)
    }

    @Test func `The claims of another library's account are those of its tenant profile`() async throws {
      let provider = ExternalAccounts()
      let application = try MSALPublicClientApplication.test(entra) {
        $0.cacheConfig.addExternalAccountProvider(provider)
      }
      provider.dave.withLock { $0 = ["oid": "dave", "tid": "Fabrikam", "name": "Dave"] }
      let accounts = try application.accounts(for: .init(tenantProfileIdentifier: "dave"))
      #expect(accounts.map(\.username) == ["dave@fabrikam.example"])
      #expect(accounts.first?.accountClaims?["name"] as? String == "Dave")
      #expect(accounts.first?.tenantProfiles?.map(\.tenantId) == ["fabrikam"])
    }

    @Test func `A sign-out that cannot remove the tokens is not reported to other libraries`() async throws {
      let (provider, store) = (ExternalAccounts(), ScriptedStore())
      let application = try MSALPublicClientApplication.test(entra, store: store) {
        $0.cacheConfig.addExternalAccountProvider(provider)
      }
      let account = try await application.signIn().account
      store.lock(isReadable: true)
      #expect(throws: NSError.self) { try application.remove(account) }
      #expect(provider.events.withLock { $0 } == ["update alice@contoso.test"])
    }

    @Test func `One library's failure to remove an account does not stop the others`() async throws {
      let broken = ExternalAccounts(failure: NSError(domain: "example", code: 7))
      let provider = ExternalAccounts()
      let application = try MSALPublicClientApplication.test(entra) {
        for provider in [broken, provider] { $0.cacheConfig.addExternalAccountProvider(provider) }
      }
      let messages = try await loggedMessages { _ = try await application.signIn() }
      let failures = messages.filter { $0.text == "A provider of external accounts failed: example 7" }
      #expect(failures.map { $0.containsPII } == [false])
      let account = try #require(try application.allAccounts().first)
      let error = #expect(throws: NSError.self) { try application.remove(account) }
      #expect(error?.domain == "example")
      #expect(provider.events.withLock { $0.last } == "remove alice@contoso.test")
    }
  }
}

/// Another library with one account.
final class ExternalAccounts: NSObject, MSALExternalAccountProviding {
  let events = Mutex<[String]>([])
  /// What it knows of another library's account.
  let alice = Mutex<MSALAccount?>(nil)
  /// The claims of one more account, which has no tenant profiles.
  let dave = Mutex<[String: String]>([:])
  /// The error of an update or a removal.
  private let failure: NSError?

  init(failure: NSError? = nil) {
    self.failure = failure
  }

  func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {
    if let failure { throw failure }
    events.withLock { $0.append("update \(account.username ?? "")") }
  }

  func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?
  ) throws {
    if let failure { throw failure }
    events.withLock { $0.append("remove \(account.username ?? "")") }
  }

  func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] {
    let carol = MSALAccount(
      Account(
        homeAccountID: "carol.contoso", username: "carol@contoso.example", environment: "login.windows.net",
        tenantProfiles: []))
    let alice = alice.withLock { $0 }
    let claims = dave.withLock { $0 }
    let dave = claims.isEmpty ? nil : ClaimedAccount(claims)
    let accounts: [(any MSALAccountProtocol)?] = [alice, carol, dave]
    return accounts.compactMap(\.self)
  }
}

/// An account as programs for iOS and macOS make it, which cannot make tenant profiles.
private final class ClaimedAccount: NSObject, MSALAccountProtocol {
  let claims: [String: String]
  let username: String? = "dave@fabrikam.example"
  let identifier: String? = "dave.fabrikam"
  let environment = "login.windows.net"
  let tenantProfiles: [MSALTenantProfile]? = nil
  let homeAccountId: MSALAccountId? = nil
  let isSSOAccount = false
  var accountClaims: [String: Any]? { claims }

  init(_ claims: [String: String]) { self.claims = claims }
}

extension Account {
  /// What another library knows of the account: its profile in another tenant.
  fileprivate func with(tenant: String) -> Account {
    Account(
      homeAccountID: homeAccountID, username: username, environment: environment,
      tenantProfiles: [
        TenantProfile(
          tenantID: tenant, localAccountID: "guest", username: nil, name: nil, environment: environment,
          isHomeTenant: false, claims: nil)
      ])
  }
}
