import CGLib
public import FoundationEssentials
import GLibSupport
import HTTPListener
public import IdentityClient
import Synchronization
import TokenCache

/// Lends access tokens to programs that have no cache of their own: over a Unix socket, or at a port of the loopback
/// interface in the protocol of App Service's managed identities.
///
/// For example:
///
/// ```swift
/// let loan = try Loan(
///   scopes: [["User.Read"]], account: account,
///   clientID: client.configuration.clientID,
///   authority: client.configuration.authority,
///   duration: .seconds(3600))
/// let lender = try Lender(
///   loan, at: .socket(path: "/run/user/1000/ci/loan.sock"),
///   client: client)
/// await lender.run()
/// ```
public final class Lender: Sendable {
  /// Where it listens.
  public enum Place: Sendable, Hashable {
    /// A Unix socket; one in a directory of its own in the runtime directory without a path.
    case socket(path: String?)
    /// A Unix socket that is listened on already, as systemd passes it. The lender closes it.
    case passedSocket(descriptor: Int32)
    /// A port of 127.0.0.1 and, where there is one, of [::1]; 0 for any free one.
    case port(UInt16)
  }

  /// What a borrower needs to reach it.
  public enum Address: Sendable, Hashable {
    /// The socket's path.
    case socket(path: String)
    /// The address of requests for tokens, and the secret to send with them.
    case endpoint(URL, secret: String)
  }

  /// Whether a server is asked for a token.
  public enum Renewal: Sendable, Hashable {
    /// Never: no token where the cache has no valid one.
    case never
    /// Where the cache has none.
    case ifNeeded
    /// Whatever the cache has.
    case always
  }

  /// Gets a token for these scopes, of the loan's account; `nil` where only a server has one and none may be asked.
  public typealias TokenSource =
    @Sendable (_ scopes: [String], _ renewal: Renewal) async throws(IdentityError) -> AuthenticationResult?

  /// Asks the user whether a borrower is allowed. `nil` means no response, and counts as no.
  public typealias PermissionHandler = @Sendable (Borrower, _ scopes: [String]) async -> Bool?

  /// The most connections at once; the others wait.
  private static let maximumConnections = 256
  /// The most requests of one borrower that are worked on at once.
  private static let maximumRequests = 64
  private static let limits = HTTPListener.Limits(
    connections: maximumConnections, requestTime: .seconds(10), answerTime: .seconds(180), maximumBodySize: 0)
  /// Half of that, for the renewal of a token alone.
  package static let renewalTimeout = Duration.seconds(90)
  /// After so long it checks again whether the loan has ended: a timer does not count while the machine is suspended.
  private static let interval = Duration.seconds(30)

  public let loan: Loan
  public let address: Address

  private let rules: LendingRules
  private let clock: LoanClock
  private let tokens: LoanTokens
  private let permissions: Permissions?
  private let log: @Sendable (LendingEvent) -> Void
  private let socket: LoanSocket?
  private let listener: HTTPListener
  private let state = Mutex(State())

  private struct State {
    var isClosed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// The process of each request for a token that is worked on.
    var requests: [Int32?] = []
  }

  /// Starts to lend tokens that `client` gets from its cache, or by renewing them. The loan's authority is asked, not the
  /// client's.
  ///
  /// - Throws: ``LendingError``, ``LendingError/unusable(_:)`` also for the loan of another client.
  public convenience init(
    _ loan: Loan, at place: Place, client: PublicClient, isOpenToAnyUser: Bool = false,
    asking question: PermissionHandler? = nil, log: @escaping @Sendable (LendingEvent) -> Void = { _ in }
  ) throws(LendingError) {
    guard client.configuration.clientID.normalized == loan.clientID.normalized else {
      throw .unusable("The loan is of the client \(loan.clientID), not \(client.configuration.clientID).")
    }
    try self.init(
      loan, at: place, isOpenToAnyUser: isOpenToAnyUser, token: Self.tokens(of: loan, from: client),
      asking: question, log: log)
  }

  /// The source of the loan's tokens that a client is.
  package static func tokens(of loan: Loan, from client: PublicClient) -> TokenSource {
    { [account = loan.account, authority = loan.authority] scopes, renewal throws(IdentityError) in
      let request = SilentRequest(
        scopes: scopes, account: account, forceRefresh: renewal == .always, authority: authority)
      guard renewal == .never else { return try await client.acquireTokenSilent(request) }
      return try await client.acquireTokenFromCache(request)
    }
  }

  /// Starts to lend tokens.
  ///
  /// - Parameters:
  ///   - loan: The terms.
  ///   - place: Where it listens.
  ///   - isOpenToAnyUser: Whether other users of the machine who can reach the socket may borrow, too.
  ///   - token: Gets the tokens.
  ///   - question: Asks the user before the first token for each borrower.
  ///   - log: Called for each request, on any thread. The lender waits for it, so it should not block.
  /// - Throws: ``LendingError``
  public convenience init(
    _ loan: Loan, at place: Place, isOpenToAnyUser: Bool = false, token: @escaping TokenSource,
    asking question: PermissionHandler? = nil, log: @escaping @Sendable (LendingEvent) -> Void = { _ in }
  ) throws(LendingError) {
    let start = ContinuousClock.now
    try self.init(
      loan, at: place, isOpenToAnyUser: isOpenToAnyUser, token: token, asking: question, log: log,
      now: { Date() }, uptime: { ContinuousClock.now - start })
  }

  package init(
    _ loan: Loan, at place: Place, isOpenToAnyUser: Bool, token: @escaping TokenSource,
    asking question: PermissionHandler? = nil, log: @escaping @Sendable (LendingEvent) -> Void = { _ in },
    now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Duration,
    renewalTimeout: Duration = Lender.renewalTimeout
  ) throws(LendingError) {
    do { try HTTPListener.loadLibrary() } catch { throw .init(error) }
    let sockets: [GObjectReference<GSocket>]
    var (port, secret) = (UInt16?.none, String?.none)
    switch place {
    case .socket(let path):
      let made = try LoanSocket.made(at: path, isOpen: isOpenToAnyUser)
      (socket, sockets, address) = (made, [made.socket], .socket(path: made.path))
    case .passedSocket(let descriptor):
      let passed = try LoanSocket.passed(descriptor)
      (socket, sockets, address) = (passed, [passed.socket], .socket(path: passed.path))
    case .port(let wanted):
      let listening: LoopbackSockets
      do { listening = try LoopbackSockets(port: wanted) } catch { throw .init(error) }
      let own = randomToken()
      guard let url = URL(string: "http://127.0.0.1:\(listening.port)\(LoanProtocol.tokenPath)") else {
        throw .unusable("Invalid port \(listening.port).")
      }
      (socket, sockets, port, secret) = (nil, listening.sockets, listening.port, own)
      address = .endpoint(url, secret: own)
    }
    self.loan = loan
    self.log = log
    clock = LoanClock(end: loan.end, now: now, uptime: uptime)
    rules = LendingRules(loan: loan, secret: secret, port: port, isOpenToAnyUser: isOpenToAnyUser)
    tokens = LoanTokens(clock, renewalTimeout: renewalTimeout, source: token)
    permissions = question.map(Permissions.init)
    let fields = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
    listener = HTTPListener(sockets, limits: Self.limits, fields: fields, thread: "llavero-lender")
    listener.start { [weak self] exchange in self?.handle(exchange) }
    listener.run { [weak self] in self?.watch() }
  }

  deinit { close() }

  /// Waits until the loan has ended, or the task is cancelled, and then ends it.
  public func run() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isClosed = state.withLock { state in
          if !state.isClosed { state.waiting.append(continuation) }
          return state.isClosed
        }
        if isClosed { continuation.resume() }
      }
    } onCancel: {
      close()
    }
  }

  /// Ends the loan: removes the socket and closes it or the port, and all connections. Tokens that were lent stay
  /// valid until they expire.
  public func close() {
    let waiting: [CheckedContinuation<Void, Never>]? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    guard let waiting else { return }
    socket?.remove()
    listener.close()
    for continuation in waiting { continuation.resume() }
  }

  private func watch() {
    guard !clock.isExpired else { return close() }
    listener.setTimer(min(clock.remaining, Self.interval)) { [weak self] in self?.watch() }
  }

  private func handle(_ exchange: ListenerExchange) {
    let borrower = Borrower(exchange.peer, exchange.user)
    guard !clock.isExpired else {
      // In a turn of its own: libsoup goes on with the server after this.
      return reply(exchange, borrower, .failure(.ended)) { [weak self] in
        self?.listener.setTimer(.zero) { [weak self] in self?.close() }
      }
    }
    switch rules.verdict(exchange.request, exchange.peer) {
    case .refused(let refusal): reply(exchange, borrower, .failure(refusal))
    case .loan: reply(exchange, borrower, .success(loan.response))
    case .token(let query):
      guard begin(borrower) else {
        let refusal = LoanRefusal(.temporarilyUnavailable, "Too many requests of this program at once.")
        return reply(exchange, borrower, .failure(refusal))
      }
      // It ends with the lender, not with the connection: a renewal must not be left half done.
      Task { [self] in
        let response = await response(to: query, borrower)
        listener.run { [self] in
          end(borrower)
          reply(exchange, borrower, response, scopes: query.scopes)
        }
      }
    }
  }

  private func begin(_ borrower: Borrower) -> Bool {
    state.withLock { state in
      guard state.requests.count(where: { $0 == borrower.process }) < Self.maximumRequests else {
        return false
      }
      state.requests.append(borrower.process)
      return true
    }
  }

  private func end(_ borrower: Borrower) {
    state.withLock { state in
      if let index = state.requests.firstIndex(of: borrower.process) { state.requests.remove(at: index) }
    }
  }

  private func response(
    to query: TokenQuery, _ borrower: Borrower
  ) async -> Result<JSONObject, LoanRefusal> {
    await Result(awaiting: try await token(for: query, borrower))
  }

  private func token(for query: TokenQuery, _ borrower: Borrower) async throws(LoanRefusal) -> JSONObject {
    if let permissions {
      guard let isAllowed = await permissions.allows(borrower, query.scopes) else {
        throw LoanRefusal(.temporarilyUnavailable, "Too many programs wait for permission.")
      }
      guard isAllowed else {
        let reason = borrower.unknownUserReason.map { " Your user is unknown to the lender: \($0)." } ?? ""
        throw LoanRefusal(.accessDenied, "Permission was not given.\(reason)")
      }
    }
    let result = try await tokens.token(for: query)
    guard !clock.isExpired else { throw LoanRefusal.ended }
    return try lent(result, query.scopes)
  }

  private func lent(_ result: AuthenticationResult, _ scopes: [String]) throws(LoanRefusal) -> JSONObject {
    guard let end = result.expiresOn, !result.accessToken.isEmpty,
      result.account.homeAccountID.normalized == loan.account.homeAccountID.normalized
    else { throw LoanRefusal(.serverError, "The lender got no token that it can lend.") }
    var members: JSONObject = [
      "access_token": .string(result.accessToken), "token_type": .string(result.tokenType),
      "expires_on": .string("\(Int64(end.timeIntervalSince1970))"), "client_id": .string(loan.clientID),
      "scope": .string(result.scopes.joined(separator: " ")),
      "home_account_id": .string(loan.account.homeAccountID),
    ]
    members["username"] = loan.account.username.map { .string($0) }
    members["tenant_id"] = ((result.tenantProfile?.tenantID).nonBlank ?? loan.tenantID).map { .string($0) }
    let suffix = "/.default"
    if scopes.count == 1, scopes[0].hasSuffix(suffix) {
      members["resource"] = .string(String(scopes[0].dropLast(suffix.count)))
    }
    return members
  }

  private func reply(
    _ exchange: ListenerExchange, _ borrower: Borrower, _ response: Result<JSONObject, LoanRefusal>,
    scopes: [String] = [], sent: (() -> Void)? = nil
  ) {
    let (status, refusal, members): (Int, LoanRefusal?, JSONObject) =
      switch response {
      case .success(let members): (200, nil, members)
      case .failure(let refusal): (refusal.statusCode, refusal, refusal.response)
      }
    exchange.reply(
      ListenerResponse(
        status: UInt32(status), fields: refusal?.fields ?? [], contentType: "application/json",
        // Texts and a number can be written always.
        body: (try? JSONWriter.bytes(of: .object(members), within: .response)) ?? []), sent: sent)
    // Nothing of the request: it may hold anything, a token among it.
    let path = exchange.request.path
    log(
      LendingEvent(
        date: clock.date, path: LoanProtocol.paths.contains(path) ? path : nil, scopes: scopes,
        status: status, error: refusal?.code.rawValue,
        reason: refusal?.description, borrower: borrower))
  }
}

/// A handled request.
public struct LendingEvent: Sendable {
  public let date: Date
  /// `/token` or `/loan`; `nil` for anything else.
  public let path: String?
  /// The scopes of the token, in the loan's words.
  public let scopes: [String]
  /// The HTTP status.
  public let status: Int
  /// The error's code in the response; `nil` for success.
  public let error: String?
  /// The error's description in the response; `nil` for success. It holds nothing of the request.
  public let reason: String?
  public let borrower: Borrower
}
