public import Foundation
public import HTTPSupport
import IdentityBroker
public import IdentityClient
import TokenCache

/// Signs people in to an application without a secret of its own, and keeps their tokens fresh.
///
/// Methods with a completion block call it on the queue that the parameters name, or as
/// ``MSALParameters/completionBlockQueue`` says. The blocks are `@Sendable`; code in the Swift 5 language mode is not
/// held to that, and in Swift 6 what it may not do there is a warning. Async methods do the same for code that can wait; cancelling
/// their task ends the work with ``MSALError/userCanceled``. Errors are `NSError` objects, most of them in
/// ``MSALErrorDomain``; a network that is down shows in `NSURLErrorDomain`, and a keyring that is locked or away
/// in `NSOSStatusErrorDomain`.
///
/// For example:
///
/// ```swift
/// let application = try MSALPublicClientApplication(
///   configuration: MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555"))
/// let parameters = MSALInteractiveTokenParameters(
///   scopes: ["https://graph.microsoft.com/user.read"], webviewParameters: MSALWebviewParameters())
/// let result = try await application.acquireToken(with: parameters)
/// ```
open class MSALPublicClientApplication: NSObject, @unchecked Sendable {
  // `@unchecked Sendable` because the class is open to subclasses and because a configuration can be changed: this one
  // never is, and only copies are handed out.
  let config: MSALPublicClientApplicationConfig
  let client: PublicClient

  /// What the application was made with. Later changes have no effect.
  open var configuration: MSALPublicClientApplicationConfig {
    MSALPublicClientApplicationConfig(copying: config)
  }

  /// - Throws: An error in ``MSALErrorDomain`` for a configuration that cannot work.
  public convenience init(configuration config: MSALPublicClientApplicationConfig) throws {
    try self.init(configuration: config, transport: nil, authenticator: nil)
  }

  /// - Throws: An error in ``MSALErrorDomain`` when the client id is empty.
  public convenience init(clientId: String) throws {
    try self.init(configuration: MSALPublicClientApplicationConfig(clientId: clientId))
  }

  /// Makes an application that reaches servers, or the person, in a way of the program's own. MSAL for iOS and macOS has
  /// nothing like it.
  ///
  /// For example, for a test that needs neither a network nor a browser nor a keyring, with a transport and an
  /// authenticator of its own:
  ///
  /// ```swift
  /// import MSAL
  /// import TokenCache
  ///
  /// config.cacheConfig.store = InMemoryStore()
  /// let application = try MSALPublicClientApplication(
  ///   configuration: config, transport: transport, authenticator: authenticator)
  /// ```
  ///
  /// - Parameters:
  ///   - config: What the application is; it is copied.
  ///   - transport: Sends the requests; `nil` is the library's own, over libsoup.
  ///   - authenticator: Leads the person through a sign-in; `nil` is the library's own, by the system's browser.
  /// - Throws: An error in ``MSALErrorDomain`` for a configuration that cannot work.
  public init(
    configuration config: MSALPublicClientApplicationConfig, transport: (any HTTPTransport)?,
    authenticator: (any WebAuthenticator)?
  ) throws {
    self.config = MSALPublicClientApplicationConfig(copying: config)
    client = PublicClient(
      configuration: try config.clientConfiguration(), cache: try config.cacheConfig.accessor(),
      transport: try transport ?? DefaultTransport(),
      authenticator: authenticator ?? defaultAuthenticator(self.config),
      popKeys: self.config.popKeys, broker: self.config.tokenBroker ?? self.config.broker,
      logger: MSALGlobalConfig.loggerConfig.logger(), timing: .system, httpSettings: { .current },
      mayAskBroker: { [hasTokenBroker = self.config.tokenBroker != nil] in
        hasTokenBroker || MSALGlobalConfig.brokerAvailability == .auto
      }, onBrowserEvent: postNotifications)
    super.init()
  }

  /// An application without a client id, which can do nothing: for a subclass that stands in for one in tests.
  public override init() {
    config = MSALPublicClientApplicationConfig(clientId: "")
    client = PublicClient(
      configuration: ClientConfiguration(clientID: ""), cache: TokenCacheAccessor(store: InMemoryStore()))
    super.init()
  }

  /// The version of this library.
  open class var sdkVersion: String? { Library.version }

  /// Whether the machine has an identity broker that runs or can be started. A session bus that does not say so within
  /// three seconds has none. macOS always says no, whatever it has.
  open var isCompatibleAADBrokerAvailable: Bool {
    (try? blocking { [broker = config.broker] in
      try await broker.presence(within: .seconds(3)) != .absent
    }) ?? false
  }

  /// Completes a sign-in whose redirect URI has a scheme of the application's own.
  ///
  /// The desktop starts the program, or activates it, with the address; hand it over here. A program that was started
  /// with it has no more to do when this returns true: the process that waits has it then. The call blocks until another
  /// process has taken the address, one second at most; a process that is slower than that finds it later.
  ///
  /// For example, at the beginning of `main`:
  ///
  /// ```swift
  /// if let address = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)),
  ///   MSALPublicClientApplication.handleMSALResponse(address, sourceApplication: nil)
  /// {
  ///   exit(0)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - response: The address.
  ///   - sourceApplication: Without effect on Linux.
  /// - Returns: Whether a sign-in waited for it, in this process or in another of the user's.
  @discardableResult
  open class func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool {
    WebSessions.handle(response)
  }

  /// Cancels the sign-in that waits for the browser or for another device. It ends with ``MSALError/userCanceled``.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  open class func cancelCurrentWebAuthSession() -> Bool {
    WebSessions.cancelAll()
  }

  /// Gets a token by having the person sign in, in the system's browser.
  ///
  /// The block is called on the main queue unless the parameters name another one.
  @preconcurrency
  open func acquireToken(
    with parameters: MSALInteractiveTokenParameters,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    let request = Result { try InteractiveRequest(parameters) }
    complete(completionBlock, on: parameters.completionBlockQueue ?? .main) { [self] in
      try await result(of: request.get())
    }
  }

  /// Gets a token by having the person sign in, in the system's browser.
  ///
  /// - Throws: `NSError`: ``MSALError/userCanceled`` when the person or the program broke it off,
  ///   ``MSALError/serverDeclinedScopes`` when not all scopes were granted.
  @discardableResult
  nonisolated(nonsending) open func acquireToken(
    with parameters: MSALInteractiveTokenParameters
  ) async throws -> MSALResult {
    try await result(of: InteractiveRequest(parameters))
  }

  /// Gets a token by having the person sign in on another device. MSAL for iOS and macOS has nothing like it.
  ///
  /// The block is called on the main queue unless the parameters name another one.
  @preconcurrency
  open func acquireToken(
    with parameters: MSALDeviceCodeTokenParameters,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    let request = Result { try DeviceCodeRequest(parameters) }
    complete(completionBlock, on: parameters.completionBlockQueue ?? .main) { [self] in
      try await result(of: request.get())
    }
  }

  /// Gets a token by having the person sign in on another device. MSAL for iOS and macOS has nothing like it.
  ///
  /// - Throws: `NSError`, as in an interactive request.
  @discardableResult
  nonisolated(nonsending) open func acquireToken(
    with parameters: MSALDeviceCodeTokenParameters
  ) async throws -> MSALResult {
    try await result(of: DeviceCodeRequest(parameters))
  }

  /// Gets a token of an account without the person: from the cache, or by means of a refresh token.
  ///
  /// The block is called on a queue of the library's unless the parameters name one.
  @preconcurrency
  open func acquireTokenSilent(
    with parameters: MSALSilentTokenParameters,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    let request = Result { try SilentRequest(parameters) }
    complete(completionBlock, on: parameters.completionBlockQueue) { [self] in
      try await result(of: request.get())
    }
  }

  /// Gets a token of an account without the person: from the cache, or by means of a refresh token.
  ///
  /// - Throws: `NSError`: ``MSALError/interactionRequired`` when the person has to sign in.
  @discardableResult
  nonisolated(nonsending) open func acquireTokenSilent(
    with parameters: MSALSilentTokenParameters
  ) async throws -> MSALResult {
    try await result(of: SilentRequest(parameters))
  }

  /// The accounts that are signed in to this application, in the order of their user names.
  ///
  /// Like all methods that neither take a block nor are async, it keeps its thread waiting while the keyring is
  /// read, and while the keyring asks for its password.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or away.
  open func allAccounts() throws -> [MSALAccount] {
    try accounts(for: MSALAccountEnumerationParameters())
  }

  /// The account with a home account id.
  ///
  /// - Throws: `NSError` also when no such account exists; then with ``MSALError/internal`` and, under
  ///   ``MSALInternalErrorCodeKey``, ``MSALInternalError/internalErrorAccountRequired``.
  open func account(forIdentifier identifier: String) throws -> MSALAccount {
    try account(
      for: MSALAccountEnumerationParameters(identifier: identifier), named: "that identifier",
      userInfo: [MSALHomeAccountIdKey: identifier])
  }

  /// The account with a user name; the first if there are several.
  ///
  /// - Throws: `NSError` also when no such account exists, as ``account(forIdentifier:)`` does.
  open func account(forUsername username: String) throws -> MSALAccount {
    try account(
      for: MSALAccountEnumerationParameters(identifier: nil, username: username), named: "that user name",
      userInfo: [MSALDisplayableUserIdKey: username])
  }

  /// The accounts that fit, in the order of their user names.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or away.
  open func accounts(for parameters: MSALAccountEnumerationParameters) throws -> [MSALAccount] {
    let query = AccountsQuery(parameters)
    return try blocking { [self] in try await accounts(query) }
  }

  /// The accounts that fit: those of the cache, then those that the machine's identity broker alone knows.
  ///
  /// Unless the parameters name a queue, the block is called before this returns where no broker is asked, and else on a
  /// queue of the library's.
  @preconcurrency
  open func accountsFromDevice(
    for parameters: MSALAccountEnumerationParameters,
    completionBlock: @escaping @Sendable ([MSALAccount]?, (any Error)?) -> Void
  ) {
    let query = AccountsQuery(parameters)
    let waits = !client.mayAskBroker
    complete(completionBlock, on: parameters.completionBlockQueue, waits: waits) { [self] in
      try await accounts(query, fromDevice: true)
    }
  }

  /// The accounts that fit: those of the cache, then those that the machine's identity broker alone knows.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or away.
  @discardableResult
  nonisolated(nonsending) open func accountsFromDevice(
    for parameters: MSALAccountEnumerationParameters
  ) async throws -> [MSALAccount] {
    try await accounts(AccountsQuery(parameters), fromDevice: true)
  }

  /// The account that is signed in to an application for one person, and the one that was before, if that was
  /// another.
  ///
  /// The block is called before this returns unless the parameters name a queue.
  @preconcurrency
  open func getCurrentAccount(
    with parameters: MSALParameters?,
    completionBlock: @escaping @Sendable (MSALAccount?, MSALAccount?, (any Error)?) -> Void
  ) {
    complete(
      { current, error in completionBlock(current?.current, current?.previous, error) },
      on: parameters?.completionBlockQueue, waits: true
    ) { [self] in try await currentAccount() }
  }

  /// The account that is signed in to an application for one person, and the one that was before, if that was
  /// another.
  ///
  /// - Throws: `NSError`: ``MSALError/internal`` with ``MSALInternalError/internalErrorAmbiguousAccount`` when
  ///   several accounts are signed in.
  @discardableResult
  nonisolated(nonsending) open func currentAccount(
    with parameters: MSALParameters?
  ) async throws -> (MSALAccount?, MSALAccount?) {
    let accounts = try await currentAccount()
    return (accounts.current, accounts.previous)
  }

  /// Signs an account out of this application: removes its tokens. Other applications keep theirs.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or away.
  open func remove(_ account: MSALAccount) throws {
    try blocking { [self] in try await signOut(account, nil) }
  }

  /// Signs an account out, of the browser's session and of other applications, too, if the parameters say so.
  ///
  /// The block is called on the main queue unless the parameters name another one.
  @preconcurrency
  open func signout(
    with account: MSALAccount, signoutParameters: MSALSignoutParameters,
    completionBlock signoutCompletionBlock: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {
    let options = SignOutOptions(signoutParameters)
    let peers = PeerCaches(signoutParameters)
    complete(
      { done, error in signoutCompletionBlock(done != nil, error) },
      on: signoutParameters.completionBlockQueue ?? .main
    ) { [self] in try await signOut(account, options, wiping: peers) }
  }

  /// Signs an account out, of the browser's session and of other applications, too, if the parameters say so.
  ///
  /// - Returns: Always true.
  /// - Throws: `NSError`, also when the person closed the sign-out page.
  @discardableResult
  nonisolated(nonsending) open func signout(
    with account: MSALAccount, signoutParameters: MSALSignoutParameters
  ) async throws -> Bool {
    try await signOut(account, SignOutOptions(signoutParameters), wiping: PeerCaches(signoutParameters))
    return true
  }

  /// What is known of the device: that it is an ordinary one, and what the identity broker's tokens say of it.
  ///
  /// The block is called before this returns unless the parameters name a queue. It gets
  /// ``MSALInternalError/internalBrokerNotAvailable`` where the broker may not be used, and no error without a broker.
  @preconcurrency
  open func getDeviceInformation(
    with parameters: MSALParameters?,
    completionBlock: @escaping @Sendable (MSALDeviceInformation?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: parameters?.completionBlockQueue, waits: true) { [self] in
      try await deviceInformation()
    }
  }

  /// What is known of the device: that it is an ordinary one, and what the identity broker's tokens say of it.
  ///
  /// - Throws: `NSError` with ``MSALInternalError/internalBrokerNotAvailable`` where the broker may not be used.
  @discardableResult
  nonisolated(nonsending) open func deviceInformation(
    with parameters: MSALParameters?
  ) async throws -> MSALDeviceInformation {
    try await deviceInformation()
  }

  /// What is known of the device's registration with an organization. On Linux always an error.
  @preconcurrency
  open func getWPJMetaDataDevice(
    with parameters: MSALParameters?, forTenantId tenantId: String?,
    completionBlock: @escaping @Sendable (MSALWPJMetaData?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: parameters?.completionBlockQueue, waits: true) {
      throw unregisteredDevice()
    }
  }

  /// What is known of the device's registration with an organization.
  ///
  /// - Throws: On Linux always an `NSError` with ``MSALInternalError/internalBrokerNotAvailable``.
  @discardableResult
  nonisolated(nonsending) open func wpjMetaDataDevice(
    with parameters: MSALParameters?, forTenantId tenantId: String?
  ) async throws -> MSALWPJMetaData {
    throw unregisteredDevice()
  }

  /// A token of the device itself. On Linux always an error.
  @preconcurrency
  open func getDeviceToken(
    with parameters: MSALDeviceTokenParameters,
    completionBlock: @escaping @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: parameters.completionBlockQueue, waits: true) {
      throw unregisteredDevice()
    }
  }

  /// A token of the device itself.
  ///
  /// - Throws: On Linux always an `NSError` with ``MSALInternalError/internalBrokerNotAvailable``.
  @discardableResult
  nonisolated(nonsending) open func deviceToken(
    with parameters: MSALDeviceTokenParameters
  ) async throws -> MSALDeviceTokenResult {
    throw unregisteredDevice()
  }

  /// A token of a device that several people share. On Linux always an error.
  @preconcurrency
  open func getDeviceTokenForSharedDevice(
    withResource resource: String, scopes: [String]?,
    completionBlock: @escaping @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: nil, waits: true) { throw unregisteredDevice() }
  }

  /// A token of a device that several people share.
  ///
  /// - Throws: On Linux always an `NSError` with ``MSALInternalError/internalBrokerNotAvailable``.
  @discardableResult
  nonisolated(nonsending) open func deviceTokenForSharedDevice(
    withResource resource: String, scopes: [String]?
  ) async throws -> MSALDeviceTokenResult {
    throw unregisteredDevice()
  }
}
