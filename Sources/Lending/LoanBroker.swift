public import FoundationEssentials
public import HTTPSupport
import HTTPTypes
public import IdentityClient
import Synchronization
public import TokenCache

/// Borrows access tokens from a lender, `llavero lend` here or on another machine: a ``TokenBroker`` for machines and
/// containers without a sign-in, keyring or network.
///
/// Nothing is stored, for there is no ID token: a client asks the lender each time, which has the cache.
///
/// For example:
///
/// ```swift
/// let lender = LoanBroker(
///   transport: try SoupHTTPTransport(
///     unixSocket: "/run/loan/llavero.sock"))
/// let terms = try await lender.terms()
/// var configuration = ClientConfiguration(
///   clientID: terms.clientID, authority: terms.authority)
/// configuration.brokerPolicy = .required
/// let client = PublicClient(
///   configuration: configuration,
///   cache: TokenCacheAccessor(store: InMemoryStore()), broker: lender)
/// let result = try await client.acquireTokenSilent(
///   SilentRequest(scopes: ["User.Read"], account: terms.account))
/// ```
public final class LoanBroker: TokenBroker {
  /// The advice where a borrowed token is not enough.
  package static let signInAdvice = "Sign in where the tokens are lent, and lend again if need be."

  public var name: String { "loan" }

  private let transport: any HTTPTransport
  private let termsTimeout: Duration
  private let tokenTimeout: Duration
  private let now: @Sendable () -> Date
  /// The terms, where the lender is not asked for them again.
  private let known: Loan?
  /// The hash of the last token by scopes, for when a resource refuses it: tokens themselves are not kept.
  private let given = Mutex<[Set<String>: String]>([:])

  /// - Parameter transport: Reaches the lender, such as a `SoupHTTPTransport` to a Unix socket.
  public convenience init(transport: any HTTPTransport) {
    // A lender may have to renew the token, or to ask its user.
    self.init(
      transport: transport, termsTimeout: .seconds(30), tokenTimeout: .seconds(300), now: { Date() })
  }

  package init(
    transport: any HTTPTransport, termsTimeout: Duration, tokenTimeout: Duration,
    now: @escaping @Sendable () -> Date, known: Loan? = nil
  ) {
    self.transport = transport
    self.termsTimeout = termsTimeout
    self.tokenTimeout = tokenTimeout
    self.now = now
    self.known = known
  }

  /// The same lender for as long as its terms are sure to hold, such as in one command: it is not asked for them again.
  package func knowing(_ terms: Loan) -> LoanBroker {
    LoanBroker(
      transport: transport, termsTimeout: termsTimeout, tokenTimeout: tokenTimeout, now: now,
      known: terms)
  }

  /// Gets the terms of the loan from the lender.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` without a listener there, ``IdentityError/Code/brokerFailed`` for
  ///   an invalid response, ``IdentityError/Code/authorizationFailed`` when the loan has ended or is not for this user.
  public func terms() async throws(IdentityError) -> Loan {
    if let known { return known }
    return try Loan(await send(LoanProtocol.loanPath, [:], within: termsTimeout), source: name)
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
        .unauthorizedClient, "The lent tokens are for the client \(terms.clientID).",
        advice: "Use that client ID.")
    }
    return [terms.account]
  }

  /// Borrows a token. The hash of a token that a resource refused, or that has to be replaced, is sent to the lender.
  ///
  /// Claims are not passed on. A resource that demands a token from after a certain time (`nbf`) gets a new one. Any other
  /// essential claim, such as `acrs` for a stronger sign-in, cannot be met by a lender, and none is asked.
  ///
  /// - Throws: As ``terms()``; also ``IdentityError/Code/invalidScope`` for scopes that are not lent,
  ///   ``IdentityError/Code/interactionRequired`` when the lender's user has to sign in,
  ///   ``IdentityError/Code/network`` while the lender cannot renew tokens, ``IdentityError/Code/unauthorizedClient`` and
  ///   ``IdentityError/Code/invalidParameter`` where client or tenant are not the loan's.
  public func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    guard !request.hasUnsupportedClaims else {
      throw .mustBeResolvedByLender(
        "The resource demands claims that a lender cannot request.",
        advice: "Do this where the tokens are lent.")
    }
    let scopes = Set(request.scopes.map { $0.lowercased() })
    var refused = request.tokenToReplace.map(LoanProtocol.hash)
    if request.isForced, refused == nil {
      if let known = given.withLock({ $0[scopes] }) {
        refused = known
      } else {
        refused = LoanProtocol.hash(of: try await token(request, replacing: nil).accessToken)
      }
    }
    let token = try await token(request, replacing: refused)
    let hash = LoanProtocol.hash(of: token.accessToken)
    guard hash != refused else {
      throw .mustBeResolvedByLender("The lender has no other token than the one that was refused.")
    }
    given.withLock { $0[scopes] = hash }
    return token
  }

  /// No sign-in is possible where tokens are borrowed.
  public func supportsInteractiveSignIn(clientID: String, correlationID: UUID) async throws(IdentityError)
    -> Bool
  {
    false
  }

  /// No sign-in is possible where tokens are borrowed.
  ///
  /// - Throws: ``IdentityError/Code/interactionRequired``, always.
  public func tokenInteractively(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    throw .mustBeResolvedByLender("Sign-in is not possible where tokens are borrowed.")
  }

  /// The lender gives tokens for any authority that it is signed in to.
  public func serves(_ authority: Authority) -> Bool { true }

  /// The lender renews them.
  public var borrowsTokens: Bool { true }
}

extension LoanBroker {
  private func token(
    _ request: BrokerRequest, replacing refused: String?
  ) async throws(IdentityError) -> BrokerToken {
    var parameters: [LoanProtocol.Parameter: String] = [
      .apiVersion: LoanProtocol.apiVersion, .scope: request.scopes.joined(separator: " "),
      .clientID: request.clientID,
    ]
    parameters[.refusedToken] = refused
    let response: LenderResponse
    do {
      var strict = parameters
      strict[.minimumValidity] = "\(Int(min(max(request.minimumValidity, 0), 86_400)))"
      response = try await send(LoanProtocol.tokenPath, strict, within: tokenTimeout)
    } catch {
      // A token that expires soon is better than none; a caller that needs more checks its expiry.
      guard error.isRefusal(LoanRefusal.Code.shortLived.rawValue) else { throw error }
      response = try await send(LoanProtocol.tokenPath, parameters, within: tokenTimeout)
    }
    let (token, tenant) = try response.token(for: request, source: name, at: now())
    try await check(tenant, of: request)
    return token
  }

  /// Refuses a token of another tenant. A tenant that is named by its domain has to be in the lender's terms under that
  /// name.
  private func check(_ tenant: String?, of request: BrokerRequest) async throws(IdentityError) {
    guard let tenant, request.authority.kind == .aad, let named = request.authority.tenant?.lowercased(),
      named != tenant.lowercased()
    else { return }
    let isDomain = UUID(uuidString: named) == nil
    guard isDomain, try await terms().authority.tenant?.lowercased() == named else {
      throw IdentityError(
        .invalidParameter,
        "The lent tokens are for the tenant \(tenant), not \(named).",
        advice: "Leave out the tenant, or use that one.")
    }
  }

  /// Sends a request, and waits for the whole response.
  private func send(
    _ path: String, _ parameters: [LoanProtocol.Parameter: String], within limit: Duration
  ) async throws(IdentityError) -> LenderResponse {
    let query = FormEncoding.encode(
      Dictionary(uniqueKeysWithValues: parameters.map { ($0.key.rawValue, $0.value) }))
    let head = HTTPRequest(
      method: .get, scheme: "http", authority: LoanProtocol.socketHost,
      path: query.isEmpty ? path : "\(path)?\(query)", headerFields: [.accept: "application/json"])
    let response: HTTPTransportResponse
    do throws(HTTPTransportError) {
      response = try await transport.send(
        HTTPTransportRequest(head, timeout: limit, maximumBodySize: LenderResponse.limits.size))
    } catch {
      throw IdentityError(lender: error)
    }
    guard SuccessStatus.isDocument(response.head.status.code) else {
      throw LenderResponse.refusal(in: response)
    }
    return try LenderResponse(response.body)
  }
}

extension BrokerRequest {
  /// Whether it has essential claims (OpenID Connect Core 5.5.1) that not every new token has.
  fileprivate var hasUnsupportedClaims: Bool {
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
  static func mustBeResolvedByLender(_ message: String, advice: String = LoanBroker.signInAdvice)
    -> IdentityError
  {
    var error = IdentityError(.interactionRequired, message, advice: advice)
    error.mustBeResolvedByLender = true
    return error
  }

  fileprivate init(lender error: HTTPTransportError) {
    switch error {
    case .cancelled: self = .cancelled
    case .notConnected(let reason), .cannotConnect(let reason), .cannotFindHost(let reason),
      .secureConnectionFailed(let reason), .invalidConfiguration(let reason):
      self.init(
        .noBroker, "No lender is listening: \(reason)",
        advice: "Run \"llavero lend\" where you are signed in, and check that its socket is visible here.")
      isLenderGone = true
    case .timedOut:
      self = .lenderFailed("it did not respond in time")
      isLenderGone = true
    case .connectionLost:
      self = .lenderFailed("it closed the connection before the end of its response")
      isLenderGone = true
    case .responseTooLarge(let limit): self = .lenderFailed("its response is larger than \(limit) bytes")
    case .invalidRequest(let reason), .malformedResponse(let reason), .untrustedServer(let reason):
      self = .lenderFailed("its response cannot be read (\(reason))")
    }
  }
}
