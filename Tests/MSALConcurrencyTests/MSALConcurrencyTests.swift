import MSAL
import TestSupport

/// A program in the Swift 6 language mode. Most of the test is that it compiles without data races.
@MainActor
final class ModernProgram {
  let application: MSALPublicClientApplication
  var result: MSALResult?
  var accounts: [MSALAccount] = []
  var lastMessage: String?

  init() throws {
    let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
    application = try MSALPublicClientApplication(configuration: config)
  }

  /// Parameters that the program keeps, and so could change at any time.
  let parameters = MSALDeviceCodeTokenParameters(scopes: [" "]) { code in
    Task { @MainActor in _ = code.message }
  }

  func signIn() async throws {
    result = try await application.acquireToken(with: parameters)
  }

  func refresh(_ account: MSALAccount) async throws {
    let parameters = MSALSilentTokenParameters(scopes: ["user.read"], account: account)
    parameters.authority = result?.authority
    result = try await application.acquireTokenSilent(with: parameters)
    (accounts, _) = ([account], try await application.currentAccount(with: nil))
  }

  func signInWithABlock(_ done: @escaping @Sendable @MainActor (NSError?) -> Void) {
    application.acquireToken(with: parameters) { result, error in
      let error = error as NSError?
      Task { @MainActor in
        self.result = result
        done(error)
      }
    }
  }
}

extension ModernProgram {
  /// The callback is called on another thread; the main actor handles it here.
  func listenToTheLog() {
    MSALGlobalConfig.loggerConfig.setLogCallback { _, message, containsPII in
      guard !containsPII else { return }
      Task { @MainActor in self.lastMessage = message }
    }
  }

  func listenToTheBrowser() -> [any NSObjectProtocol] {
    [Notification.Name.MSALWebAuthDidStartLoad, .MSALWebAuthDidFail].map { name in
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in
        Task { @MainActor in self.accounts = [] }
      }
    }
  }
}

/// A program's protocol for MSAL, which its tests can implement: its requirements are those of the class.
protocol TokenSource: Sendable {
  func acquireTokenSilent(
    with parameters: MSALSilentTokenParameters, completionBlock: @escaping MSALCompletionBlock)
  func getCurrentAccount(
    with parameters: MSALParameters?, completionBlock: @escaping MSALCurrentAccountCompletionBlock)
}

extension MSALPublicClientApplication: TokenSource {}

/// Its implementation in tests, with objects that a program makes.
struct TokenDouble: TokenSource {
  static let account = MSALAccount(
    username: "alice@contoso.example", homeAccountId: MSALAccountId(identifier: "some.body"),
    tenantProfiles: [
      MSALTenantProfile(
        identifier: "some", tenantId: "body", claims: ["name": "Alice", "age": 7, "when": Date.now])
    ])

  func acquireTokenSilent(
    with parameters: MSALSilentTokenParameters, completionBlock: @escaping MSALCompletionBlock
  ) {
    completionBlock(
      MSALResult(accessToken: "token", account: Self.account, scopes: parameters.scopes), nil)
  }

  func getCurrentAccount(
    with parameters: MSALParameters?, completionBlock: @escaping MSALCurrentAccountCompletionBlock
  ) {
    completionBlock(Self.account, nil, nil)
  }
}

/// A user who declines.
struct ScriptedPerson: WebAuthenticator {
  func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    throw IdentityError(.userCanceled, "No.")
  }
}

/// Uses an application in its own isolation.
actor Worker {
  func accounts(of application: MSALPublicClientApplication) async throws -> [MSALAccount] {
    let parameters = MSALAccountEnumerationParameters()
    return try await application.accountsFromDevice(for: parameters)
  }
}

@MainActor
struct MSALConcurrencyTests {
  @Test func `A refused request is caught in Swift 6`() async throws {
    let program = try ModernProgram()
    do {
      try await program.signIn()
      Issue.record("A request for a blank scope should be refused.")
    } catch let error as NSError {
      #expect(error.domain == MSALErrorDomain)
      #expect(error.userInfo[MSALInternalErrorCodeKey] as? Int == -42000)
    }
    let code = await withCheckedContinuation { continuation in
      program.signInWithABlock { continuation.resume(returning: $0?.code) }
    }
    #expect(code == MSALError.internal.rawValue)
  }

  @Test func `A program can make results and accounts for its own tests`() async {
    let double: any TokenSource = TokenDouble()
    let account = await withCheckedContinuation { continuation in
      double.getCurrentAccount(with: nil) { account, _, _ in continuation.resume(returning: account) }
    }
    #expect(account?.username == "alice@contoso.example" && account?.identifier == "some.body")
    #expect(account?.homeAccountId?.objectId == "some" && account?.homeAccountId?.tenantId == "body")
    #expect(account?.accountClaims?["name"] as? String == "Alice")
    #expect(account?.accountClaims?["age"] as? Int == 7 && account?.accountClaims?["when"] == nil)
    let parameters = MSALSilentTokenParameters(scopes: ["user.read"], account: TokenDouble.account)
    let result = await withCheckedContinuation { continuation in
      double.acquireTokenSilent(with: parameters) { result, _ in continuation.resume(returning: result) }
    }
    #expect(result?.authorizationHeader == "Bearer token" && result?.scopes == ["user.read"])
    #expect(result?.account == account && result?.tenantProfile.tenantId == "body")
    #expect(result?.authority.url.absoluteString == "https://login.microsoftonline.com/common")
    let code = MSALDeviceCode(
      userCode: "ABCD", verificationURI: URL(filePath: "/"), message: "Enter ABCD.", expiresOn: .now)
    #expect(code.userCode == "ABCD" && MSALDeviceInformation().deviceMode == .default)
  }

  /// Runs in its own process: waiting sign-ins belong to the process, and other tests use them.
  @Test func `A program can replace the network and the browser`() async {
    await #expect(processExitsWith: .success) {
      let server = ScriptedTransport()
      server.script { _ throws(HTTPTransportError) in throw .cannotFindHost("nowhere") }
      let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
      config.cacheConfig.store = InMemoryStore()
      let application = try MSALPublicClientApplication(
        configuration: config, transport: server, authenticator: ScriptedPerson())
      let error = await #expect(throws: NSError.self) {
        try await application.acquireToken(
          with: MSALDeviceCodeTokenParameters(scopes: ["user.read"]) { _ in })
      }
      #expect(error?.domain == NSURLErrorDomain && error?.code == NSURLErrorCannotFindHost)
      #expect(!server.requests.isEmpty)
      // The authority for sign-ins.
      server.script { _ in nil }
      let refused = await #expect(throws: NSError.self) {
        try await application.acquireToken(
          with: MSALInteractiveTokenParameters(
            scopes: ["user.read"], webviewParameters: MSALWebviewParameters()))
      }
      #expect(refused?.domain == MSALErrorDomain && refused?.code == MSALError.userCanceled.rawValue)
    }
  }
}
