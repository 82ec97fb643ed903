public import FoundationEssentials
import GLibSupport
public import IdentityClient
public import TokenCache

/// The identity broker of a managed machine: `com.microsoft.identity.broker1` on the session bus, which Microsoft's
/// broker and Himmelblau offer.
///
/// Each method is one call with one correlation id, whatever it asks on the bus. A call without a person has ten seconds
/// for each request. A broker that does not respond, or not validly, is not asked again for three minutes by
/// any program of the user, unless it was started anew meanwhile; a call for which a person waits asks it all the same.
///
/// For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: ClientConfiguration(clientID: "…"), cache: cache,
///   transport: try SoupHTTPTransport(environment: environment),
///   broker: LinuxBroker())
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

  private let connection: BrokerConnection
  private let memory: FailureMemory
  /// Whether it is asked also after a failure that is remembered, such as to find the cause.
  private let ignoresRecentFailure: Bool
  private let now: @Sendable () -> Date
  private let queue = BlockingQueue(label: "llavero.broker")
  /// A person may take minutes; other calls do not wait for them.
  private let interactiveQueue = BlockingQueue(label: "llavero.broker.interactive")

  /// - Parameter busAddress: The D-Bus address of the bus; nil is the session bus.
  public convenience init(busAddress: String? = nil) {
    self.init(busAddress: busAddress, directory: nil)
  }

  /// A failure is remembered in `directory`, by default the runtime directory.
  package init(
    busAddress: String? = nil, limit: Duration = .seconds(10), ignoresRecentFailure: Bool = false,
    directory: String? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.ignoresRecentFailure = ignoresRecentFailure
    connection = BrokerConnection(busAddress: busAddress, limit: limit)
    memory = FailureMemory(
      directory: directory ?? RuntimeDirectory(environment: processEnvironment()).path, now: now)
    self.now = now
  }

  /// Whether a broker runs or can be started. It is not started by this.
  ///
  /// - Throws: `IdentityError.Code.brokerFailed` when the bus does not say.
  public func presence() async throws(IdentityError) -> Presence {
    try await presence(within: Self.noLimit)
  }

  /// Finds out as ``presence()`` does, within a time, also while other calls take theirs.
  package func presence(within limit: Duration) async throws(IdentityError) -> Presence {
    try await run(on: BlockingQueue(label: "llavero.broker.presence"), within: limit) {
      (connection, cancellable) throws(IdentityError) in
      try connection.presence(cancellable)
    }
  }

  public func isAvailable() async throws(IdentityError) -> Bool { try await presence() != .absent }

  /// The broker's version, as it reports it.
  ///
  /// - Throws: `IdentityError`, as all methods.
  public func version(correlationID: UUID) async throws(IdentityError) -> String {
    try await ask(.version, correlationID, BrokerResponse.version)
  }

  public func accounts(clientID: String, correlationID: UUID) async throws(IdentityError) -> [Account] {
    let entries = try await ask(.accounts(clientID: clientID), correlationID, BrokerResponse.accounts)
    return BrokerAccount.accounts(in: entries)
  }

  public func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    try await ask(request.correlationID) { [now] (call) throws(IdentityError) in
      guard let account = request.account else {
        throw IdentityError(.accountRequired, "A request to the broker needs an account.")
      }
      let entry = try Self.entry(
        for: account, tenant: request.authority.tenant, clientID: request.clientID, call)
      func ask(replacing old: String?) throws(IdentityError) -> BrokerToken {
        var request = request
        request.tokenToReplace = old
        return try BrokerResponse.token(in: call(.tokenSilently(request, account: entry.fields)), at: now())
      }
      let token = try ask(replacing: request.tokenToReplace)
      guard request.tokenToReplace == nil,
        token.expiresOn < now().addingTimeInterval(request.minimumValidity)
      else { return token }
      do throws(IdentityError) {
        let new = try ask(replacing: token.accessToken)
        return new.expiresOn > token.expiresOn ? new : token
      } catch  where error.code != .cancelled {
        return token
      }
    }
  }

  /// Whether the broker signs people in in a window of its own, as Microsoft's does. Himmelblau asks for no more than a
  /// PIN, or for nothing.
  public func supportsInteractiveSignIn(clientID: String, correlationID: UUID) async throws(IdentityError)
    -> Bool
  {
    do {
      // A person waits for this, too.
      return try await ask(
        .accounts(clientID: clientID), correlationID, despiteFailure: true, Self.supportsInteractiveSignIn)
    } catch  where error.code == .noBroker {
      return false
    }
  }

  /// Gets a token for which the broker asks the person, without a limit of time. When the task is cancelled the response
  /// is no longer waited for; the broker is not told, because it has no safe method for that.
  public func tokenInteractively(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    let accounts = try await ask(
      .accounts(clientID: request.clientID), request.correlationID, despiteFailure: true,
      BrokerResponse.accounts)
    let tenant = request.authority.tenant
    let entry =
      request.account.flatMap { BrokerAccount.entry(for: $0, tenant: tenant, in: accounts) }
      ?? request.loginHint.flatMap { BrokerAccount.entry(named: $0, tenant: tenant, in: accounts) }
    let text = try await run(on: interactiveQueue) { (connection, cancellable) throws(IdentityError) in
      try connection.call(
        .tokenInteractively(request, account: entry?.fields), correlationID: request.correlationID,
        cancellable)
    }
    return try BrokerResponse.token(in: text, at: now())
  }

  /// Has the broker forget an account, for all programs of the person. Himmelblau cannot.
  public func remove(_ account: Account, clientID: String, correlationID: UUID) async throws(IdentityError) {
    try await ask(correlationID) { (call) throws(IdentityError) in
      let entry = try Self.entry(for: account, tenant: nil, clientID: clientID, call)
      _ = try BrokerResponse.members(in: call(.removal(of: entry.fields, clientID: clientID)))
    }
  }
}

extension LinuxBroker {
  private typealias Call = (BrokerMethod) throws(IdentityError) -> String

  /// The broker wants the whole object back that it listed.
  private static func entry(
    for account: Account, tenant: String?, clientID: String, _ call: Call
  ) throws(IdentityError) -> BrokerAccount {
    let accounts = try BrokerResponse.accounts(in: call(.accounts(clientID: clientID)))
    guard let entry = BrokerAccount.entry(for: account, tenant: tenant, in: accounts) else {
      throw .unknownToBroker
    }
    return entry
  }

  /// Whether the broker that lists accounts so has a dialog to sign in.
  private static func supportsInteractiveSignIn(_ list: String) throws(IdentityError) -> Bool {
    // Where Microsoft's broker lists no account, Himmelblau responds with an error.
    if try BrokerResponse.isRefusal(list) { return false }
    let accounts = try BrokerResponse.accounts(in: list)
    // Himmelblau lists the login's user alone.
    return accounts.count != 1 || !accounts[0].isHimmelblaus
  }

  /// Calls one method, and reads its response.
  private func ask<T: Sendable>(
    _ method: BrokerMethod, _ correlationID: UUID, despiteFailure: Bool = false,
    _ read: @escaping @Sendable (String) throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    try await ask(correlationID, despiteFailure: despiteFailure) { (call) throws(IdentityError) in
      try read(call(method))
    }
  }

  /// Asks the broker, unless it failed a while ago.
  private func ask<T: Sendable>(
    _ correlationID: UUID, despiteFailure: Bool = false,
    _ body: @escaping @Sendable (Call) throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    let memory = memory
    let asksAnyway = ignoresRecentFailure || despiteFailure
    return try await run(on: queue) { (connection, cancellable) throws(IdentityError) in
      try connection.bus()
      if !asksAnyway, let failure = memory.failure(of: { connection.instance(cancellable) }) {
        throw failure
      }
      var (isOptional, hasEnded) = (false, false)
      do throws(IdentityError) {
        let answer = try body { (method) throws(IdentityError) in
          isOptional = method.isOptional
          return try connection.call(method, correlationID: correlationID, cancellable) { hasEnded = true }
        }
        if asksAnyway { memory.forget() }
        return answer
      } catch {
        // A refusal costs no time, and the next request may succeed.
        if !isOptional, error.code == .brokerFailed, error.brokerStatus == nil,
          let instance = connection.instance(hasEnded: hasEnded, cancellable)
        {
          memory.remember(error, of: instance)
        }
        throw error
      }
    }
  }

  /// As long as a call on the bus can wait at most: 24 days. What has a limit keeps to its own, which does not begin
  /// while others are served.
  private static let noLimit = Duration.seconds(24 * 86_400)

  private func run<T: Sendable>(
    on queue: BlockingQueue, within limit: Duration = LinuxBroker.noLimit,
    _ body: @escaping @Sendable (BrokerConnection, Cancellable) throws(IdentityError) -> T
  ) async throws(IdentityError) -> T {
    let connection = connection
    return try await queue.run(
      timeout: limit, onCancel: .cancelled,
      onTimeout: IdentityError.brokerFailed("the sign-in was not finished")
    ) { (cancellable) throws(IdentityError) in try body(connection, cancellable) }
  }
}
