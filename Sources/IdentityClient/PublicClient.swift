public import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import Logging
import Synchronization
public import TokenCache

/// Signs users in to an application without a client secret, and renews their tokens.
///
/// For example, with `import Llavero`:
///
/// ```swift
/// let client = try PublicClient(clientID: clientID)
/// let result = try await client.token(for: ["User.Read"])
/// ```
///
/// With parts of your choice:
///
/// ```swift
/// let client = PublicClient(
///   configuration: ClientConfiguration(clientID: clientID),
///   cache: TokenCacheAccessor(store: KeyringCacheStore()),
///   transport: try SoupHTTPTransport(environment: environment),
///   authenticator: BrowserAuthenticator(),
///   broker: LinuxBroker())
/// ```
public final class PublicClient: Sendable {
  /// The immutable configuration of the application.
  public let configuration: ClientConfiguration
  /// The application's token cache.
  public let cache: TokenCacheAccessor

  let authenticator: (any WebAuthenticator)?
  let popKeys: (any PopKeyProvider)?
  package let broker: (any TokenBroker)?
  let isBrokerAllowed: @Sendable () -> Bool
  let sender: HTTPSender
  /// When the result expires, by ``Timing/uptime``; `nil` for never.
  let knownMetadata = Mutex<
    [Authority: (result: Result<AuthorityMetadata, IdentityError>, until: Duration?)]
  >([:])
  let metadataSearches = SharedWork<Authority, AuthorityMetadata>()
  let telemetry = ServerTelemetry()
  let throttle = Throttle()
  let lockDirectory: String
  let lockQueues = Mutex<[ShardID: BlockingQueue]>([:])
  let renewals = SharedWork<SilentFlow.Key, AuthenticationResult>()
  let silentResults = Mutex(SilentResults())
  let browserSession: BrowserSession
  let timing: Timing
  let log: ClientLog
  let now: @Sendable () -> Date

  /// Creates a client from its configuration, cache, transport and, for sign-in in the browser, authenticator.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the application.
  ///   - cache: The token cache.
  ///   - transport: Sends its requests.
  ///   - authenticator: Opens the browser; `nil` for a program without one.
  ///   - popKeys: Provides the keys for requests with a ``PopScheme``.
  ///   - broker: Another source of tokens, by ``ClientConfiguration/brokerPolicy``.
  ///   - logger: The application's logger. Personal data is masked unless the configuration allows it.
  ///   - now: The clock, which should be the cache's.
  public convenience init(
    configuration: ClientConfiguration, cache: TokenCacheAccessor, transport: any HTTPTransport,
    authenticator: (any WebAuthenticator)? = nil, popKeys: (any PopKeyProvider)? = nil,
    broker: (any TokenBroker)? = nil,
    logger: Logger = Logger(label: "llavero.identity", factory: { _ in SwiftLogNoOpLogHandler() }),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(
      configuration: configuration, cache: cache, transport: transport, authenticator: authenticator,
      popKeys: popKeys, broker: broker, logger: logger, now: now, timing: .system)
  }

  /// Creates a client without network access, which uses only the cache and, if given, a broker. It finds tokens, lists
  /// accounts and signs them out. A call that needs a server throws ``IdentityError/Code/network``.
  ///
  /// For example:
  ///
  /// ```swift
  /// let client = PublicClient(
  ///   configuration: ClientConfiguration(clientID: clientID),
  ///   cache: cache)
  /// if let result = try await client.acquireTokenFromCache(request) {
  ///   print(result.expiresOn ?? "")
  /// }
  /// ```
  public convenience init(
    configuration: ClientConfiguration, cache: TokenCacheAccessor, broker: (any TokenBroker)? = nil,
    logger: Logger = Logger(label: "llavero.identity", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    let transport = NoTransport(reason: "This client was made without a network.")
    self.init(
      configuration: configuration, cache: cache, transport: transport, broker: broker, logger: logger)
  }

  /// Creates a client with further parts for the facade and the tests. `httpSettings` replaces the configuration's and
  /// is evaluated for each request, as is `mayAskBroker`. `lockDirectory` replaces the runtime directory.
  package init(
    configuration: ClientConfiguration, cache: TokenCacheAccessor, transport: any HTTPTransport,
    authenticator: (any WebAuthenticator)?, popKeys: (any PopKeyProvider)? = nil,
    broker: (any TokenBroker)? = nil, logger: Logger,
    now: @escaping @Sendable () -> Date = { Date() }, timing: Timing, lockDirectory: String? = nil,
    httpSettings: (@Sendable () -> HTTPSettings)? = nil,
    mayAskBroker: @escaping @Sendable () -> Bool = { true },
    onBrowserEvent: @escaping @Sendable (BrowserEvent) -> Void = { _ in }
  ) {
    let log = ClientLog(logger: logger, showsPersonalData: configuration.logsPersonalData)
    // If the broker is required, no request is sent to a server.
    let transport: any HTTPTransport =
      configuration.brokerPolicy == .required
      ? NoTransport(reason: "Only the broker may be asked, and no server.") : transport
    let settings = { @Sendable in
      (configuration.httpRetryCount, configuration.httpRetryInterval, configuration.httpTimeout)
    }
    sender = HTTPSender(
      transport: transport, settings: httpSettings ?? settings, timing: timing, log: log)
    self.configuration = configuration
    self.cache = cache
    self.authenticator = authenticator
    self.popKeys = popKeys
    self.broker = broker
    isBrokerAllowed = mayAskBroker
    self.timing = timing
    self.log = log
    self.now = now
    browserSession = BrowserSession(onEvent: onBrowserEvent)
    self.lockDirectory = lockDirectory ?? RuntimeDirectory(environment: processEnvironment()).path
  }

  /// Gets a token by a sign-in in the browser: authorization code with PKCE (RFC 7636, RFC 8252). A broker with a
  /// sign-in dialog of its own goes before the browser.
  public func acquireToken(
    _ request: InteractiveRequest
  ) async throws(IdentityError) -> AuthenticationResult {
    try await run(request, request.account, InteractiveFlow.init)
  }

  /// Gets a token of an account that is signed in: from the cache, from the broker, or by a refresh token.
  ///
  /// - Throws: ``IdentityError``; ``IdentityError/Code/interactionRequired`` if the user has to sign in.
  public func acquireTokenSilent(
    _ request: SilentRequest
  ) async throws(IdentityError) -> AuthenticationResult {
    if let result = rememberedResult(of: request) { return result }
    return try await run(request, request.account, SilentFlow.init)
  }

  /// Waits for renewals that continue although their callers were cancelled, since a server may have replaced the
  /// refresh token. Call it before the program exits.
  public func finishRenewals() async { await renewals.finish() }

  package var isRenewing: Bool { renewals.isBusy }

  /// Gets a token of an account that is signed in from the cache only.
  ///
  /// - Returns: The cached token; `nil` if there is none, if it is due for renewal, or if the request has claims or
  ///   `forceRefresh`. ``acquireTokenSilent(_:)`` then asks the broker or the server. Without a broker and a refresh
  ///   token it throws or returns the token that is due.
  /// - Throws: ``IdentityError``.
  public func acquireTokenFromCache(
    _ request: SilentRequest
  ) async throws(IdentityError) -> AuthenticationResult? {
    if let result = rememberedResult(of: request) { return result }
    do {
      let resolved = try await resolve(request, request.account)
      let result = try await SilentFlow(request, resolved).tokenFromCache()
      guard let proof = resolved.proof, let result else { return result }
      return try result.presenting(by: proof, at: now())
    } catch {
      throw failed(error, request.correlationID, request.account)
    }
  }

  /// Gets a token by a sign-in on another device (RFC 8628).
  public func acquireToken(_ request: DeviceCodeRequest) async throws(IdentityError) -> AuthenticationResult {
    try await run(request, request.account, DeviceFlow.init)
  }

  /// Lists accounts (default: those that are signed in to this client).
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  public func accounts(_ filter: AccountFilter = AccountFilter()) async throws(IdentityError) -> [Account] {
    let filter = ofThisClient(filter)
    return try await cacheCall(await cache.accounts(filter))
  }

  /// Signs an account out of this client. Other clients of the group keep their tokens.
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  public func remove(_ account: Account) async throws(IdentityError) { try await signOut(account) }

  /// Handles a response to a redirect URI with the application's own scheme.
  ///
  /// - Returns: Whether a sign-in was waiting for it.
  @discardableResult
  public func handleRedirect(_ url: URL) -> Bool { browserSession.handle(url) }
}

/// A transport that rejects all requests.
private struct NoTransport: HTTPTransport {
  let reason: String

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    throw .invalidRequest(reason)
  }
}
