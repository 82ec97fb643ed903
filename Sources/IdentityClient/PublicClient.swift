public import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import Logging
import Synchronization
public import TokenCache

/// Signs people in to a client application without a secret of its own, and keeps their tokens fresh.
///
/// For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: ClientConfiguration(clientID: "…"), cache: TokenCacheAccessor(store: KeyringCacheStore()),
///   transport: try SoupHTTPTransport(environment: environment))
/// let result = try await client.acquireToken(DeviceCodeRequest(scopes: ["User.Read"]) { print($0.message) })
/// ```
public final class PublicClient: Sendable {
  public let configuration: ClientConfiguration
  public let cache: TokenCacheAccessor

  let authenticator: (any WebAuthenticator)?
  let popKeys: (any PopKeyProvider)?
  package let broker: (any TokenBroker)?
  let isBrokerAllowed: @Sendable () -> Bool
  let sender: HTTPSender
  /// Until when, as time since the system's start, where that is limited.
  let knownMetadata = Mutex<
    [Authority: (result: Result<AuthorityMetadata, IdentityError>, until: Duration?)]
  >([:])
  let metadataSearches = SharedWork<Authority, AuthorityMetadata>()
  let telemetry = ServerTelemetry()
  let throttle = Throttle()
  let lockDirectory: String
  let lockQueues = Mutex<[ShardID: BlockingQueue]>([:])
  let renewals = SharedWork<SilentFlow.Key, AuthenticationResult>()
  let answers = Mutex(SilentAnswers())
  let browserSession: BrowserSession
  let timing: Timing
  let log: ClientLog
  let now: @Sendable () -> Date

  /// - Parameters:
  ///   - configuration: What the application is.
  ///   - cache: Where its tokens are kept.
  ///   - transport: Sends its requests.
  ///   - authenticator: Opens the browser; `nil` for a program without one.
  ///   - popKeys: Has the keys for requests with a ``PopScheme``.
  ///   - broker: Gives tokens, too, as ``ClientConfiguration/brokerPolicy`` says.
  ///   - logger: Told what happens. Personal data is masked unless the configuration says otherwise.
  ///   - now: The clock, which should be the cache's too.
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

  /// Makes a client for a program that only ever asks the cache, and a broker if it has one: it finds tokens, lists
  /// accounts and signs them out, and fails with ``IdentityError/Code/network`` where it would have to ask a server.
  ///
  /// For example:
  ///
  /// ```swift
  /// let client = PublicClient(configuration: ClientConfiguration(clientID: "…"), cache: cache)
  /// if let result = try await client.acquireTokenFromCache(request) { print(result.expiresOn ?? "") }
  /// ```
  public convenience init(
    configuration: ClientConfiguration, cache: TokenCacheAccessor, broker: (any TokenBroker)? = nil,
    logger: Logger = Logger(label: "llavero.identity", factory: { _ in SwiftLogNoOpLogHandler() })
  ) {
    let transport = NoTransport(reason: "This client was made without a network.")
    self.init(
      configuration: configuration, cache: cache, transport: transport, broker: broker, logger: logger)
  }

  /// Makes a client with what the facade and the tests set besides: `httpSettings` are read when a request is made, in
  /// place of the configuration's, `mayAskBroker` is asked then, too, and `lockDirectory` stands for the runtime directory.
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
    // Where the broker is required nothing else is asked, whatever the request.
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

  /// Gets a token by having a person sign in in a browser: authorization code with PKCE (RFC 7636, RFC 8252). A broker
  /// that asks people itself goes before the browser.
  public func acquireToken(
    _ request: InteractiveRequest
  ) async throws(IdentityError) -> AuthenticationResult {
    try await run(request, request.account) { (resolved) async throws(IdentityError) in
      try await InteractiveFlow(request: request, resolved: resolved).token()
    }
  }

  /// Gets a token of an account that is signed in: from the cache, from the broker, or by a refresh token.
  ///
  /// - Throws: ``IdentityError``; ``IdentityError/Code/interactionRequired`` when the person has to sign in.
  public func acquireTokenSilent(
    _ request: SilentRequest
  ) async throws(IdentityError) -> AuthenticationResult {
    if let result = rememberedResult(of: request) { return result }
    return try await run(request, request.account) { (resolved) async throws(IdentityError) in
      try await SilentFlow(request, resolved).token()
    }
  }

  /// Waits for the renewals that go on although their callers were cancelled: a server may have replaced the refresh
  /// token that it got. For programs that end.
  public func finishRenewals() async { await renewals.finish() }

  package var isRenewing: Bool { renewals.isBusy }

  /// Gets a token of an account that is signed in, without asking a server.
  ///
  /// - Returns: The cache's token; `nil` if it has none, if that is due for renewal, or if the request has claims or
  ///   `forceRefresh`. ``acquireTokenSilent(_:)`` then asks the broker or the server or, without a broker and a refresh token,
  ///   throws or returns the token that is due.
  /// - Throws: ``IdentityError``.
  public func acquireTokenFromCache(
    _ request: SilentRequest
  ) async throws(IdentityError) -> AuthenticationResult? {
    if let result = rememberedResult(of: request) { return result }
    return try await addingRequestContext(request.correlationID, request.account) {
      () async throws(IdentityError) in
      let resolved = try await resolve(request, request.account)
      let result = try await SilentFlow(request, resolved).tokenFromCache()
      guard let proof = resolved.proof, let result else { return result }
      return try result.presenting(by: proof, at: now())
    }
  }

  /// Gets a token by having a person sign in on another device (RFC 8628).
  public func acquireToken(_ request: DeviceCodeRequest) async throws(IdentityError) -> AuthenticationResult {
    try await run(request, request.account) { (resolved) async throws(IdentityError) in
      try await DeviceFlow(request: request, resolved: resolved).token()
    }
  }

  /// Lists accounts, those that are signed in to this client unless the filter says otherwise.
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  public func accounts(_ filter: AccountFilter = AccountFilter()) async throws(IdentityError) -> [Account] {
    let filter = ofThisClient(filter)
    return try await cacheCall { () async throws(CacheError) in try await cache.accounts(filter) }
  }

  /// Signs an account out of this client. Other clients of the group keep their tokens.
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  public func remove(_ account: Account) async throws(IdentityError) { try await signOut(account) }

  /// Takes the response that came to a scheme of the application's own.
  ///
  /// - Returns: Whether a sign-in waited for it.
  @discardableResult
  public func handleRedirect(_ url: URL) -> Bool { browserSession.handle(url) }

  /// Runs `body` and adds to its errors the correlation id, and the account that they are about.
  func addingRequestContext<T>(
    _ correlationID: UUID, _ account: Account? = nil, _ body: () async throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    do throws(IdentityError) {
      return try await body()
    } catch {
      let error = error.completed(correlationID, account)
      log(
        .info, "The call failed.",
        [
          "code": "\(error.code.rawValue)", "error": log.word(error.oauthError),
          "correlation": "\(correlationID.text)",
        ])
      throw error
    }
  }
}

/// Stands where nothing is to be sent.
private struct NoTransport: HTTPTransport {
  let reason: String

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    throw .invalidRequest(reason)
  }
}
