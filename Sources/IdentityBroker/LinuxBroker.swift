public import FoundationEssentials
import GLibSupport
public import IdentityClient
import Synchronization
public import TokenCache

/// The identity broker of a managed machine: `com.microsoft.identity.broker1` on the session bus, which Microsoft's
/// broker and Himmelblau offer.
///
/// Each method is one call with one correlation id, whatever it asks on the bus. A call without a person has ten seconds
/// for each question. A broker that gives no answer, or none that makes sense, is not asked again for three minutes,
/// unless it was started anew meanwhile; a call for which a person waits asks it all the same.
///
/// For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: ClientConfiguration(clientID: "…"), cache: cache,
///   transport: try SoupHTTPTransport(environment: environment), broker: LinuxBroker())
/// ```
public final class LinuxBroker: TokenBroker {
  /// Whether there is a broker.
  public enum Presence: String, Sendable, Hashable {
    case running
    /// The bus starts it with the first call.
    case startable
    case absent
  }

  /// The word for its tokens in the cache, which MSAL for Python has too.
  package static let source = "broker"
  public var name: String { Self.source }

  /// For how long a broker that failed is not asked again.
  static let pause = Duration.seconds(180)

  private let connection: BrokerConnection
  private let questionTimeout: Duration
  private let callTimeout: Duration
  private let now: @Sendable () -> Date
  private let queue = BlockingQueue(label: "llavero.broker")
  /// A person may take minutes; other calls do not wait for them.
  private let interactiveQueue = BlockingQueue(label: "llavero.broker.interactive")
  private let failure = Mutex<Failure?>(nil)

  private struct Failure {
    let error: IdentityError
    let end: ContinuousClock.Instant
    /// Which run of the broker it was, as the bus names it.
    let owner: String?
  }

  /// - Parameter busAddress: The D-Bus address of the bus; nil is the session bus.
  public convenience init(busAddress: String? = nil) {
    // A call asks two questions at most, and the bus one.
    self.init(
      busAddress: busAddress, questionTimeout: .seconds(10), callTimeout: .seconds(30), now: { Date() })
  }

  package init(
    busAddress: String?, questionTimeout: Duration, callTimeout: Duration, now: @escaping @Sendable () -> Date
  ) {
    connection = BrokerConnection(busAddress: busAddress)
    self.questionTimeout = questionTimeout
    self.callTimeout = callTimeout
    self.now = now
  }

  /// Whether a broker runs or can be started. It is not started by this.
  ///
  /// - Throws: `IdentityError.Code.brokerFailed` when the bus does not say.
  public func presence() async throws(IdentityError) -> Presence {
    try await run { (connection, cancellable) throws(IdentityError) in try connection.presence(cancellable) }
  }

  public func isAvailable() async throws(IdentityError) -> Bool { try await presence() != .absent }

  /// The broker's version, which the broker itself says.
  ///
  /// - Throws: `IdentityError`, as all methods.
  public func version(correlationID: UUID) async throws(IdentityError) -> String {
    try await ask(correlationID) { (call) throws(IdentityError) in
      try BrokerAnswer.version(in: call(.version))
    }
  }

  public func accounts(clientID: String, correlationID: UUID) async throws(IdentityError) -> [Account] {
    try await ask(correlationID) { (call) throws(IdentityError) in
      BrokerAccount.accounts(in: try BrokerAnswer.accounts(in: call(.accounts(clientID: clientID))))
    }
  }

  public func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    try await ask(request.correlationID) { [now] (call) throws(IdentityError) in
      let account = try Self.entry(for: request, call)
      return try BrokerAnswer.token(in: call(.tokenSilently(request, account: account.fields)), at: now())
    }
  }

  /// Whether the broker signs people in in a window of its own, as Microsoft's does. Himmelblau asks for no more than a
  /// PIN, or for nothing.
  public func canAskPerson(clientID: String, correlationID: UUID) async throws(IdentityError) -> Bool {
    do {
      return try await ask(correlationID) { (call) throws(IdentityError) in
        let text = try call(.accounts(clientID: clientID))
        // Where Microsoft's broker lists nobody, Himmelblau answers with an error.
        if BrokerAnswer.isRefusal(text) { return false }
        let accounts = try BrokerAnswer.accounts(in: text)
        // Himmelblau lists the login's user alone.
        return accounts.count != 1 || !accounts[0].isHimmelblaus
      }
    } catch {
      if error.code == .noBroker { return false }
      throw error
    }
  }

  /// Gets a token for which the broker asks the person, without a limit of time. When the task is cancelled the answer
  /// is no longer waited for; the broker is not told, because there is no safe word for that.
  public func tokenInteractively(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    let accounts: [BrokerAccount] = try await ask(request.correlationID, despiteFailure: true) {
      (call) throws(IdentityError) in
      try BrokerAnswer.accounts(in: call(.accounts(clientID: request.clientID)))
    }
    let tenant = request.authority.tenant
    let entry =
      request.account.flatMap { BrokerAccount.entry(for: $0, tenant: tenant, in: accounts) }
      ?? request.loginHint.flatMap { BrokerAccount.entry(named: $0, tenant: tenant, in: accounts) }
    let (connection, id) = (connection, Self.text(request.correlationID))
    let text = try await interactiveQueue.run(
      timeout: Self.patience, onCancel: .cancelled, onTimeout: IdentityError.brokerFailed("nobody signed in")
    ) { (cancellable) throws(IdentityError) in
      try connection.call(
        .tokenInteractively(request, account: entry?.fields), correlationID: id, within: nil, cancellable)
    }
    return try BrokerAnswer.token(in: text, at: now())
  }

  /// As long as a call on the bus can wait at most: 24 days.
  private static let patience = Duration.seconds(24 * 86_400)

  /// Has the broker forget an account, for all programs of the person. Himmelblau cannot.
  ///
  /// - Throws: `IdentityError`.
  public func remove(
    _ account: Account, clientID: String, correlationID: UUID
  ) async throws(IdentityError) {
    try await ask(correlationID) { (call) throws(IdentityError) in
      let entry = try Self.entry(for: account, tenant: nil, clientID: clientID, call)
      try BrokerAnswer.checkDone(call(.removal(of: entry.fields, clientID: clientID)))
    }
  }

  /// Gets the cookie that signs a browser in.
  ///
  /// - Parameters:
  ///   - request: For which client and account.
  ///   - url: The page of the sign-in that the browser is to ask for, with its nonce.
  /// - Returns: The cookie, for the origin of that page alone.
  /// - Throws: `IdentityError`; `IdentityError.Code.invalidParameter` for a page of another server than
  ///   Microsoft's.
  public func cookie(_ request: BrokerRequest, for url: URL) async throws(IdentityError) -> SSOCookie {
    guard url.scheme?.lowercased() == "https", let host = url.host(), CloudInstances.known.contains(host)
    else {
      throw IdentityError(.invalidParameter, "The cookie is for pages of Microsoft's sign-in alone.")
    }
    return try await ask(request.correlationID) { (call) throws(IdentityError) in
      let account = try Self.entry(for: request, call)
      return try BrokerAnswer.cookie(
        in: call(.cookie(request, account: account.fields, url: url.absoluteString)))
    }
  }

  /// Has the broker sign an HTTP request with a token that is bound to its key. Himmelblau cannot.
  ///
  /// - Parameters:
  ///   - method: The request's method.
  ///   - url: Where the request goes.
  ///   - nonce: The resource's, if it wants one.
  ///   - account: Whose token it is.
  ///   - clientID: The client that asks.
  ///   - correlationID: The caller's id for the call.
  /// - Returns: The signed request, for the field `Authorization`.
  /// - Throws: `IdentityError`.
  public func signedRequest(
    _ method: String, to url: URL, nonce: String?, account: Account, clientID: String, correlationID: UUID
  ) async throws(IdentityError) -> String {
    let method = BrokerMethod.signedRequest(
      method, to: url.absoluteString, nonce: nonce, homeAccountID: account.homeAccountID, clientID: clientID)
    return try await ask(correlationID) { (call) throws(IdentityError) in
      try BrokerAnswer.signedRequest(in: call(method))
    }
  }
}

extension LinuxBroker {
  private typealias Call = (BrokerMethod) throws(IdentityError) -> String

  private static func entry(for request: BrokerRequest, _ call: Call) throws(IdentityError) -> BrokerAccount {
    guard let account = request.account else {
      throw IdentityError(.accountRequired, "A request to the broker needs an account.")
    }
    return try entry(for: account, tenant: request.authority.tenant, clientID: request.clientID, call)
  }

  /// The broker wants the whole object back that it listed.
  private static func entry(
    for account: Account, tenant: String?, clientID: String, _ call: Call
  ) throws(IdentityError) -> BrokerAccount {
    let accounts = try BrokerAnswer.accounts(in: call(.accounts(clientID: clientID)))
    guard let entry = BrokerAccount.entry(for: account, tenant: tenant, in: accounts) else {
      throw IdentityError(
        .interactionRequired, "The identity broker does not know the account.",
        advice: "Sign in to the broker, as in the company's portal.")
    }
    return entry
  }

  /// In lower case, as it stands in the server's logs.
  private static func text(_ id: UUID) -> String { id.uuidString.lowercased() }

  /// Asks the broker, each question within the time for a silent call. It is not asked for a while after it failed.
  private func ask<T: Sendable>(
    _ correlationID: UUID, despiteFailure: Bool = false,
    _ body: @escaping @Sendable (Call) throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    let (id, timeout) = (Self.text(correlationID), questionTimeout)
    return try await run { [self] (connection, cancellable) throws(IdentityError) in
      if !despiteFailure { try checkFailure(cancellable) }
      do throws(IdentityError) {
        return try body { (method) throws(IdentityError) in
          try connection.call(method, correlationID: id, within: timeout, cancellable)
        }
      } catch {
        // A refusal costs no time, and the next question may be answered.
        if error.code == .brokerFailed, error.brokerStatus == nil { remember(error, cancellable) }
        throw error
      }
    }
  }

  private func remember(_ error: IdentityError, _ cancellable: Cancellable) {
    let owner = connection.owner(cancellable)
    failure.withLock { $0 = Failure(error: error, end: .now + Self.pause, owner: owner) }
  }

  /// Passes unless this run of the broker failed a while ago.
  private func checkFailure(_ cancellable: Cancellable) throws(IdentityError) {
    guard let failure = failure.withLock({ $0 }), failure.end > .now,
      connection.owner(cancellable) == failure.owner
    else { return }
    var error = failure.error
    error.isThrottled = true
    throw error
  }

  private func run<T: Sendable>(
    _ body: @escaping @Sendable (BrokerConnection, Cancellable) throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    let connection = connection
    return try await queue.run(
      timeout: callTimeout, onCancel: .cancelled,
      onTimeout: IdentityError.brokerFailed("it did not answer in time")
    ) { (cancellable) throws(IdentityError) in try body(connection, cancellable) }
  }
}
