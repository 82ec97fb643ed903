public import Foundation
public import HTTPSupport
import IdentityBroker
public import IdentityClient
import TokenCache

/// Signs users in to a public client application, and renews their tokens.
///
/// Completion blocks are called on ``MSALParameters/completionBlockQueue``. They are `@Sendable`, which the Swift 5 language
/// mode ignores and Swift 6 reports as warnings. Cancelling the task of an async method ends it with
/// ``MSALError/userCanceled``. Errors are `NSError` objects, most of them in ``MSALErrorDomain``; a network failure is in
/// `NSURLErrorDomain`, and a keyring that is locked or unavailable in `NSOSStatusErrorDomain`.
///
/// For example:
///
/// ```swift
/// let application = try MSALPublicClientApplication(
///   configuration: MSALPublicClientApplicationConfig(
///     clientId: "11111111-2222-4333-8444-555555555555"))
/// let parameters = MSALInteractiveTokenParameters(
///   scopes: ["https://graph.microsoft.com/user.read"],
///   webviewParameters: MSALWebviewParameters())
/// let result = try await application.acquireToken(with: parameters)
/// ```
open class MSALPublicClientApplication: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
  // Configurations are mutable. This one is never changed, and only copies are returned.
  let config: MSALPublicClientApplicationConfig
  let client: PublicClient

  /// A copy of the application's configuration. Changes of it have no effect.
  open var configuration: MSALPublicClientApplicationConfig {
    MSALPublicClientApplicationConfig(copying: config)
  }

  /// - Throws: An error in ``MSALErrorDomain`` for an invalid configuration.
  public init(configuration config: MSALPublicClientApplicationConfig) throws {
    self.config = MSALPublicClientApplicationConfig(copying: config)
    client = try self.config.client()
  }

  /// - Throws: An error in ``MSALErrorDomain`` when the client ID is empty.
  public init(clientId: String) throws {
    config = MSALPublicClientApplicationConfig(clientId: clientId)
    client = try config.client()
  }

  /// Makes an application with another transport or authenticator. MSAL for iOS and macOS has no counterpart.
  ///
  /// For example, for a test without network, browser and keyring:
  ///
  /// ```swift
  /// import MSAL
  /// import TokenCache
  ///
  /// config.cacheConfig.store = InMemoryStore()
  /// let application = try MSALPublicClientApplication(
  ///   configuration: config, transport: transport,
  ///   authenticator: authenticator)
  /// ```
  ///
  /// - Parameters:
  ///   - config: The configuration, which is copied.
  ///   - transport: Sends the requests; `nil` is the library's, on libsoup.
  ///   - authenticator: Shows the sign-in; `nil` is the library's, with the system's browser.
  /// - Throws: An error in ``MSALErrorDomain`` for an invalid configuration.
  public init(
    configuration config: MSALPublicClientApplicationConfig, transport: (any HTTPTransport)?,
    authenticator: (any WebAuthenticator)?
  ) throws {
    self.config = MSALPublicClientApplicationConfig(copying: config)
    client = try self.config.client(transport, authenticator)
  }

  /// Makes an application without a client ID, for subclasses in tests.
  public override init() {
    config = MSALPublicClientApplicationConfig(clientId: "")
    client = PublicClient(
      configuration: ClientConfiguration(clientID: ""), cache: TokenCacheAccessor(store: InMemoryStore()))
  }

  /// The version of this library.
  open class var sdkVersion: String? { Library.version }

  /// Whether the machine has an identity broker that runs or can be started. A session bus that does not respond within
  /// three seconds counts as none. On macOS it is always false.
  open var isCompatibleAADBrokerAvailable: Bool {
    (try? blocking { [broker = config.broker] in
      try await broker.presence(within: .seconds(3)) != .absent
    }) ?? false
  }

  /// Completes a sign-in whose redirect URI has a custom scheme.
  ///
  /// The desktop starts or activates the program with the URL; pass it to this method. When it returns true, a program that
  /// was started with the URL can exit: the waiting process has it. The call blocks for at most a second until another
  /// process has taken the URL; a slower process finds it later. `sourceApplication` has no effect on Linux.
  ///
  /// For example, at the beginning of `main`:
  ///
  /// ```swift
  /// let arguments = CommandLine.arguments.dropFirst()
  /// if let address = arguments.first.flatMap(URL.init(string:)),
  ///   MSALPublicClientApplication.handleMSALResponse(
  ///     address, sourceApplication: nil)
  /// {
  ///   exit(0)
  /// }
  /// ```
  ///
  /// - Returns: Whether a sign-in waited for it, in this process or in another of the user's.
  @discardableResult
  open class func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool {
    WebSessions.handle(response)
  }

  /// Cancels the sign-in that waits for the browser or another device. It ends with ``MSALError/userCanceled``.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  open class func cancelCurrentWebAuthSession() -> Bool { WebSessions.cancelAll() }

  /// Gets a token by an interactive sign-in in the system's browser.
  ///
  /// The library does not notice a closed tab: the request ends after five minutes with
  /// ``MSALInternalError/internalErrorSessionCanceled``, or when the program calls ``cancelCurrentWebAuthSession()``. Offer a
  /// Cancel button.
  ///
  /// The block is called on the main queue unless the parameters have another.
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

  /// Gets a token by an interactive sign-in in the system's browser.
  ///
  /// The library does not notice a closed tab: the request ends after five minutes with
  /// ``MSALInternalError/internalErrorSessionCanceled``, or when the program calls ``cancelCurrentWebAuthSession()``. Offer a
  /// Cancel button.
  ///
  /// - Throws: `NSError`: ``MSALError/userCanceled`` when the user or the program cancelled it,
  ///   ``MSALError/serverDeclinedScopes`` when not all scopes were granted.
  @discardableResult
  nonisolated(nonsending) open func acquireToken(
    with parameters: MSALInteractiveTokenParameters
  ) async throws -> MSALResult {
    try await result(of: InteractiveRequest(parameters))
  }

  /// Gets a token by a sign-in on another device. MSAL for iOS and macOS has no counterpart.
  ///
  /// The block is called on the main queue unless the parameters have another.
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

  /// Gets a token by a sign-in on another device. MSAL for iOS and macOS has no counterpart.
  ///
  /// - Throws: `NSError`, as in an interactive request.
  @discardableResult
  nonisolated(nonsending) open func acquireToken(
    with parameters: MSALDeviceCodeTokenParameters
  ) async throws -> MSALResult {
    try await result(of: DeviceCodeRequest(parameters))
  }

  /// Gets a token of an account silently: from the cache, or with a refresh token.
  ///
  /// The block is called on one of the library's queues unless the parameters have another.
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

  /// Gets a token of an account silently: from the cache, or with a refresh token.
  ///
  /// - Throws: `NSError`: ``MSALError/interactionRequired`` when the user has to sign in.
  @discardableResult
  nonisolated(nonsending) open func acquireTokenSilent(
    with parameters: MSALSilentTokenParameters
  ) async throws -> MSALResult {
    try await result(of: SilentRequest(parameters))
  }

  /// Gets the accounts that are signed in to this application, in the order of their user names.
  ///
  /// Like all methods that neither take a block nor are async, it keeps its thread waiting while the keyring is
  /// read, and while the keyring requests its password.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or unavailable.
  open func allAccounts() throws -> [MSALAccount] {
    try accounts(for: MSALAccountEnumerationParameters())
  }

  /// Gets the account with a home account id.
  ///
  /// - Throws: `NSError` also when no such account exists: then in the domain `Foundation._GenericObjCError`, as on Apple's
  ///   systems, and not in ``MSALErrorDomain``.
  open func account(forIdentifier identifier: String) throws -> MSALAccount {
    try account(
      for: MSALAccountEnumerationParameters(identifier: identifier), named: "that identifier",
      userInfo: [MSALHomeAccountIdKey: identifier])
  }

  /// Gets the account with a user name; the first if there are several.
  ///
  /// - Throws: `NSError` also when no such account exists, as ``account(forIdentifier:)`` does.
  open func account(forUsername username: String) throws -> MSALAccount {
    try account(
      for: MSALAccountEnumerationParameters(identifier: nil, username: username), named: "that user name",
      userInfo: [MSALDisplayableUserIdKey: username])
  }

  /// Gets the matching accounts, in the order of their user names.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or unavailable.
  open func accounts(for parameters: MSALAccountEnumerationParameters) throws -> [MSALAccount] {
    let query = AccountsQuery(parameters)
    return try blocking { [self] in try await accounts(query) }
  }

  /// Gets the matching accounts: those of the cache, then those that only the machine's identity broker has.
  ///
  /// Unless the parameters have a queue, the block is called before this returns if no broker is asked, else on one of the
  /// library's queues.
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

  /// Gets the matching accounts: those of the cache, then those that only the machine's identity broker has.
  ///
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or unavailable.
  @discardableResult
  nonisolated(nonsending) open func accountsFromDevice(
    for parameters: MSALAccountEnumerationParameters
  ) async throws -> [MSALAccount] {
    try await accounts(AccountsQuery(parameters), fromDevice: true)
  }

  /// Gets the current account of an application for one user, of the cache or of the machine's identity broker, and that of the
  /// call before, which may be the same.
  ///
  /// The block is called before this returns unless the parameters have a queue.
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

  /// Gets the current account of an application for one user, of the cache or of the machine's identity broker, and that of the
  /// call before, which may be the same.
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
  /// - Throws: `NSError`, in `NSOSStatusErrorDomain` when the keyring is locked or unavailable.
  open func remove(_ account: MSALAccount) throws {
    try blocking { [self] in try await signOut(account) }
  }

  /// Signs an account out, with the parameters also of the browser's session and of other applications.
  ///
  /// The block is called on the main queue unless the parameters have another.
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

  /// Signs an account out, with the parameters also of the browser's session and of other applications.
  ///
  /// - Returns: Always true.
  /// - Throws: `NSError`, also when the user closed the sign-out page.
  @discardableResult
  nonisolated(nonsending) open func signout(
    with account: MSALAccount, signoutParameters: MSALSignoutParameters
  ) async throws -> Bool {
    try await signOut(account, SignOutOptions(signoutParameters), wiping: PeerCaches(signoutParameters))
    return true
  }

  /// Gets information on the device: an ordinary one, with the claims of the identity broker's tokens.
  ///
  /// The block is called before this returns unless the parameters have a queue. It gets
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

  /// Gets information on the device: an ordinary one, with the claims of the identity broker's tokens.
  ///
  /// - Throws: `NSError` with ``MSALInternalError/internalBrokerNotAvailable`` where the broker may not be used.
  @discardableResult
  nonisolated(nonsending) open func deviceInformation(
    with parameters: MSALParameters?
  ) async throws -> MSALDeviceInformation {
    try await deviceInformation()
  }

  /// Gets the device's registration with an organization. On Linux always an error.
  @preconcurrency
  open func getWPJMetaDataDevice(
    with parameters: MSALParameters?, forTenantId tenantId: String?,
    completionBlock: @escaping @Sendable (MSALWPJMetaData?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: parameters?.completionBlockQueue, waits: true) {
      throw unregisteredDevice()
    }
  }

  /// Gets the device's registration with an organization.
  ///
  /// - Throws: On Linux always an `NSError` with ``MSALInternalError/internalBrokerNotAvailable``.
  @discardableResult
  nonisolated(nonsending) open func wpjMetaDataDevice(
    with parameters: MSALParameters?, forTenantId tenantId: String?
  ) async throws -> MSALWPJMetaData {
    throw unregisteredDevice()
  }

  /// Gets a token of the device itself. On Linux always an error.
  @preconcurrency
  open func getDeviceToken(
    with parameters: MSALDeviceTokenParameters,
    completionBlock: @escaping @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: parameters.completionBlockQueue, waits: true) {
      throw unregisteredDevice()
    }
  }

  /// Gets a token of the device itself.
  ///
  /// - Throws: On Linux always an `NSError` with ``MSALInternalError/internalBrokerNotAvailable``.
  @discardableResult
  nonisolated(nonsending) open func deviceToken(
    with parameters: MSALDeviceTokenParameters
  ) async throws -> MSALDeviceTokenResult {
    throw unregisteredDevice()
  }

  /// Gets a token of a device that several users share. On Linux always an error.
  @preconcurrency
  open func getDeviceTokenForSharedDevice(
    withResource resource: String, scopes: [String]?,
    completionBlock: @escaping @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
  ) {
    complete(completionBlock, on: nil, waits: true) { throw unregisteredDevice() }
  }

  /// Gets a token of a device that several users share.
  ///
  /// - Throws: On Linux always an `NSError` with ``MSALInternalError/internalBrokerNotAvailable``.
  @discardableResult
  nonisolated(nonsending) open func deviceTokenForSharedDevice(
    withResource resource: String, scopes: [String]?
  ) async throws -> MSALDeviceTokenResult {
    throw unregisteredDevice()
  }
}
