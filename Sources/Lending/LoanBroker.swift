public import FoundationEssentials
public import HTTPSupport
import HTTPTypes
public import IdentityClient
import Synchronization
public import TokenCache

/// A lender of access tokens, `llavero lend` here or on another machine, as a ``TokenBroker`` for a place that has
/// neither a sign-in of its own, nor a keyring, nor a network.
///
/// Nothing is stored, for there is no ID token: a client asks the lender each time, who keeps what he has.
///
/// For example:
///
/// ```swift
/// let lender = LoanBroker(transport: try SoupHTTPTransport(unixSocket: "/run/loan/llavero.sock"))
/// let terms = try await lender.terms()
/// var configuration = ClientConfiguration(clientID: terms.clientID, authority: terms.authority)
/// configuration.brokerPolicy = .required
/// let client = PublicClient(
///   configuration: configuration, cache: TokenCacheAccessor(store: InMemoryStore()), broker: lender)
/// let result = try await client.acquireTokenSilent(
///   SilentRequest(scopes: ["User.Read"], account: terms.account))
/// ```
public final class LoanBroker: TokenBroker {
  /// What is lent, to whom that asks.
  public struct Terms: Sendable, Hashable {
    /// Each is the scopes of one token.
    public let scopes: [[String]]
    /// Whose tokens they are.
    public let account: Account
    /// The application that the tokens are issued to.
    public let clientID: String
    /// Who issues them.
    public let authority: Authority
    /// The tenant that issues them, where the lender knows it.
    public let tenantID: String?
    /// When the loan ends.
    public let end: Date
  }

  /// What helps where a token that is lent does not do.
  package static let signInAdvice = "Sign in where the tokens are lent, and lend again if need be."

  public var name: String { "loan" }

  private let transport: any HTTPTransport
  private let questionTimeout: Duration
  private let tokenTimeout: Duration
  private let now: @Sendable () -> Date
  /// What is lent, where it is not to be asked again.
  private let known: Terms?
  /// The hash of the last token for some scopes, for when a resource refuses it: tokens themselves are kept nowhere.
  private let given = Mutex<[Set<String>: String]>([:])

  /// - Parameter transport: Reaches the lender, such as a `SoupHTTPTransport` to a Unix socket.
  public convenience init(transport: any HTTPTransport) {
    // A lender may have to renew the token, or to ask a person.
    self.init(
      transport: transport, questionTimeout: .seconds(30), tokenTimeout: .seconds(300), now: { Date() })
  }

  package init(
    transport: any HTTPTransport, questionTimeout: Duration, tokenTimeout: Duration,
    now: @escaping @Sendable () -> Date, known: Terms? = nil
  ) {
    self.transport = transport
    self.questionTimeout = questionTimeout
    self.tokenTimeout = tokenTimeout
    self.now = now
    self.known = known
  }

  /// The same lender for as long as his terms are sure to hold, such as in one command: he is not asked for them again.
  package func knowing(_ terms: Terms) -> LoanBroker {
    LoanBroker(
      transport: transport, questionTimeout: questionTimeout, tokenTimeout: tokenTimeout, now: now,
      known: terms)
  }

  /// Asks what is lent.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` without a listener there, ``IdentityError/Code/brokerFailed`` for
  ///   whatever is no answer, ``IdentityError/Code/authorizationFailed`` when the lender lends nothing to this user, or
  ///   nothing any more.
  public func terms() async throws(IdentityError) -> Terms {
    if let known { return known }
    return try LoanAnswer.terms(in: await ask(LoanProtocol.loanPath, [:], within: questionTimeout), by: name)
  }

  public func isAvailable() async throws(IdentityError) -> Bool {
    do {
      _ = try await terms()
      return true
    } catch {
      if error.code == .noBroker { return false }
      throw error
    }
  }

  /// The account whose tokens are lent.
  ///
  /// - Throws: As ``terms()``; ``IdentityError/Code/unauthorizedClient`` where the tokens are another client's.
  public func accounts(clientID: String, correlationID: UUID) async throws(IdentityError) -> [Account] {
    let terms = try await terms()
    guard terms.clientID.lowercased() == clientID.lowercased() else {
      throw IdentityError(
        .unauthorizedClient, "The tokens that are lent are those of the client \(terms.clientID).",
        advice: "Use that client's id.")
    }
    return [terms.account]
  }

  /// Borrows a token. When one is refused by a resource, or is to be replaced, the lender is told which by its hash.
  ///
  /// Claims are not passed on. Where a resource wants a token from after a certain time (`nbf`), a new one meets that.
  /// Where it calls any other claim essential, such as `acrs` for a stronger sign-in, no lender can, and none is asked.
  ///
  /// - Throws: As ``terms()``; also ``IdentityError/Code/invalidScope`` for what is not lent,
  ///   ``IdentityError/Code/interactionRequired`` when the lender's person has to sign in,
  ///   ``IdentityError/Code/network`` while the lender can renew nothing, ``IdentityError/Code/unauthorizedClient`` and
  ///   ``IdentityError/Code/invalidParameter`` where client or tenant are others than the loan's.
  public func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    guard !request.asksForMoreThanANewToken else {
      throw .elsewhere(
        "The token has to meet demands of the resource that no lender passes on.",
        advice: "Do this where the tokens are lent.")
    }
    let scopes = Set(request.scopes.map { $0.lowercased() })
    var refused = request.tokenToReplace.map(LoanProtocol.hash)
    if request.isForced, refused == nil {
      if let known = given.withLock({ $0[scopes] }) {
        refused = known
      } else {
        refused = LoanProtocol.hash(of: try await token(request, instead: nil).accessToken)
      }
    }
    let token = try await token(request, instead: refused)
    let hash = LoanProtocol.hash(of: token.accessToken)
    guard hash != refused else {
      throw .elsewhere("The lender has no other token than the one that was refused.")
    }
    given.withLock { $0[scopes] = hash }
    return token
  }

  /// No sign-in is possible where tokens are borrowed.
  public func canAskPerson(clientID: String, correlationID: UUID) async throws(IdentityError) -> Bool {
    false
  }

  /// No sign-in is possible where tokens are borrowed.
  ///
  /// - Throws: ``IdentityError/Code/interactionRequired``, always.
  public func tokenInteractively(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    throw .elsewhere("Nobody can sign in where tokens are borrowed.")
  }

  /// The lender gives tokens for whatever authority he is signed in to.
  public func serves(_ authority: Authority) -> Bool { true }
}

extension LoanBroker {
  private func token(
    _ request: BrokerRequest, instead refused: String?
  ) async throws(IdentityError) -> BrokerToken {
    var parameters: [LoanProtocol.Parameter: String] = [
      .apiVersion: LoanProtocol.apiVersion, .scope: request.scopes.joined(separator: " "),
      .clientID: request.clientID,
    ]
    parameters[.refusedToken] = refused
    let body: Data
    do {
      var strict = parameters
      strict[.minimumValidity] = "\(Int(min(max(request.minimumValidity, 0), 86_400)))"
      body = try await ask(LoanProtocol.tokenPath, strict, within: tokenTimeout)
    } catch {
      // A token that ends soon is better than none; who needs one for longer looks at its end.
      guard error.isRefusal(LoanRefusal.Code.shortLived.rawValue) else { throw error }
      body = try await ask(LoanProtocol.tokenPath, parameters, within: tokenTimeout)
    }
    let (token, tenant) = try LoanAnswer.token(in: body, for: request, by: name, at: now())
    try await check(tenant, of: request)
    return token
  }

  /// A token of another tenant is of no use, and may do harm. Where the tenant is named by its domain, the lender has to
  /// have named it so, too.
  private func check(_ tenant: String?, of request: BrokerRequest) async throws(IdentityError) {
    guard let tenant, request.authority.kind == .aad, let named = request.authority.tenant?.lowercased(),
      named != tenant.lowercased()
    else { return }
    let isDomain = UUID(uuidString: named) == nil
    guard isDomain, try await terms().authority.tenant?.lowercased() == named else {
      throw IdentityError(
        .invalidParameter,
        "The tokens that are lent are of the tenant \(tenant), and \(named) was asked for.",
        advice: "Leave the tenant out, or name that one.")
    }
  }

  /// Puts a question, and waits for the answer to its end.
  private func ask(
    _ path: String, _ parameters: [LoanProtocol.Parameter: String], within limit: Duration
  ) async throws(IdentityError) -> Data {
    let query = FormEncoding.encode(
      Dictionary(uniqueKeysWithValues: parameters.map { ($0.key.rawValue, $0.value) }))
    let head = HTTPRequest(
      method: .get, scheme: "http", authority: LoanProtocol.socketHost,
      path: query.isEmpty ? path : "\(path)?\(query)", headerFields: [.accept: "application/json"])
    let response: HTTPTransportResponse
    do throws(HTTPTransportError) {
      response = try await transport.send(
        HTTPTransportRequest(head, timeout: limit, maximumBodySize: LoanAnswer.limits.size))
    } catch {
      throw IdentityError(lender: error)
    }
    guard response.head.status == .ok else { throw LoanAnswer.refusal(in: response) }
    return response.body
  }
}

extension BrokerRequest {
  /// Whether there are claims that are essential (OpenID Connect Core 5.5.1) and that not every new token has.
  fileprivate var asksForMoreThanANewToken: Bool {
    guard let claims else { return false }
    guard let claims = try? ClaimsRequest(json: claims) else { return true }
    return ClaimsRequest.Target.allCases.contains { target in
      claims.claims(for: target).contains { claim in
        claim.additionalInfo?.essential == true && !(target == .accessToken && claim.name == "nbf")
      }
    }
  }
}

extension IdentityError {
  /// A sign-in is required, but at the lender.
  static func elsewhere(_ message: String, advice: String = LoanBroker.signInAdvice) -> IdentityError {
    var error = IdentityError(.interactionRequired, message, advice: advice)
    error.isElsewhere = true
    return error
  }

  /// Why no answer came from a lender.
  fileprivate init(lender error: HTTPTransportError) {
    switch error {
    case .cancelled: self = .cancelled
    case .cannotConnect(let reason), .cannotFindHost(let reason), .invalidConfiguration(let reason):
      self.init(
        .noBroker, "Nobody lends tokens here: \(reason)",
        advice: "Run \"llavero lend\" where you are signed in, and see that its socket is reached from here.")
      isLenderGone = true
    case .timedOut:
      self = .lenderFailed("it did not answer in time")
      isLenderGone = true
    case .connectionLost:
      self = .lenderFailed("it hung up before the end of its answer")
      isLenderGone = true
    case .responseTooLarge(let limit): self = .lenderFailed("its answer is larger than \(limit) bytes")
    case .invalidRequest(let reason), .malformedResponse(let reason), .untrustedServer(let reason):
      self = .lenderFailed("its answer cannot be read (\(reason))")
    }
  }
}
