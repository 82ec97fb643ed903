import FoundationEssentials
import HTTPSupport
import HTTPTypes
import IdentityClient
import TokenCache

/// What a lender answered. He may be anybody who got at the socket, so that nothing is taken unseen.
enum LoanAnswer {
  static let limits = JSONLimits(size: 1 << 18, depth: 16, values: 2000)

  /// What is lent.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed``.
  static func terms(in body: Data, by name: String) throws(IdentityError) -> LoanBroker.Terms {
    let answer = try decoded(LoanDescription.self, body)
    guard let url = URL(string: answer.authority), let authority = try? Authority(url: url) else {
      throw .lenderFailed("it does not say who issues the tokens")
    }
    guard Optional(answer.clientID).nonBlank != nil, answer.clientID == answer.clientID.printable(limit: 200)
    else {
      throw .lenderFailed("it does not say whose client the tokens are for")
    }
    guard let end = date(answer.expiresOn) else { throw .lenderFailed("it does not say when the loan ends") }
    return LoanBroker.Terms(
      scopes: answer.scopes.map { $0.printable().split(separator: " ").map(String.init) },
      account: try account(
        answer.homeAccountID, answer.username, tenant: answer.tenantID, environment: answer.environment,
        by: name),
      clientID: answer.clientID, authority: authority, tenantID: answer.tenantID?.printable(limit: 200),
      end: end)
  }

  /// The token, and the tenant that issued it.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed``.
  static func token(
    in body: Data, for request: BrokerRequest, by name: String, at now: Date
  ) throws(IdentityError) -> (BrokerToken, tenant: String?) {
    let answer = try decoded(LentToken.self, body)
    guard !answer.accessToken.isEmpty, answer.accessToken.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else {
      throw .lenderFailed("its answer has no access token")
    }
    guard answer.tokenType.lowercased() == "bearer" else {
      throw .lenderFailed("it gave a token of another type than Bearer")
    }
    guard answer.clientID.lowercased() == request.clientID.lowercased() else {
      throw .lenderFailed("it gave a token of another client")
    }
    guard let end = date(answer.expiresOn) else { throw .lenderFailed("it does not say when its token ends") }
    guard end > now else {
      throw .lenderFailed("the time of its token is over, or one of the two machines' clocks is wrong")
    }
    let account = try account(
      answer.homeAccountID, answer.username, tenant: answer.tenantID,
      environment: request.account?.environment ?? request.authority.host, by: name)
    let token = BrokerToken(
      accessToken: answer.accessToken, expiresOn: end,
      grantedScopes: Optional(answer.scope.printable()).nonBlank, account: account)
    return (token, answer.tenantID?.printable(limit: 200))
  }

  /// Why there is no token.
  static func refusal(in response: HTTPTransportResponse) -> IdentityError {
    let status = response.head.status.code
    guard let refusal = try? decoded(LoanRefusal.self, response.body) else {
      return .lenderFailed("it answered with the status \(status) and no reason")
    }
    let reason = refusal.description.printable(limit: 500)
    var error: IdentityError
    switch refusal.code {
    case .interactionRequired: error = .elsewhere(reason)
    case .temporarilyUnavailable:
      error = IdentityError(
        .network, "The lender can get no new token: \(reason)", advice: "Try again later.")
    case .invalidScope: error = IdentityError(.invalidScope, reason)
    case .unauthorizedClient: error = IdentityError(.unauthorizedClient, reason)
    case .accessDenied: error = IdentityError(.authorizationFailed, reason)
    case .invalidRequest, .invalidClient, .shortLived, .serverError, nil: error = .lenderFailed(reason)
    }
    error.oauthError = refusal.error.printable(limit: 200)
    error.httpStatus = status
    if let pause = response.head.headerFields[.retryAfter] { error.httpHeaders["Retry-After"] = pause }
    return error
  }

  private static func decoded<T: Decodable>(_ type: T.Type, _ body: Data) throws(IdentityError) -> T {
    do {
      try limits.check(body)
      return try JSONDecoder().decode(type, from: body)
    } catch let error as ForeignJSONError {
      throw .lenderFailed("its answer cannot be read: \(error)")
    } catch {
      // What the decoder says quotes the answer.
      throw .lenderFailed("its answer is not the one that was asked for")
    }
  }

  /// Seconds since 1970, before the year 10000.
  private static func date(_ digits: String) -> Date? {
    guard !digits.isEmpty, digits.utf8.count <= 12, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let seconds = Double(digits), seconds < 253_402_300_800
    else { return nil }
    return Date(timeIntervalSince1970: seconds)
  }

  private static func account(
    _ id: String, _ username: String?, tenant: String?, environment: String, by name: String
  ) throws(IdentityError) -> Account {
    guard Optional(id).nonBlank != nil, id == id.printable(limit: 500) else {
      throw .lenderFailed("it does not say whose the tokens are")
    }
    let id = id.lowercased()
    let home = Tenant.home(of: id)
    let (username, environment) = (
      username?.printable(limit: 500), environment.printable(limit: 300).lowercased()
    )
    let profiles = (tenant?.printable(limit: 200).lowercased()).map { tenant in
      TenantProfile(
        tenantID: tenant,
        localAccountID: tenant == home ? id.split(separator: ".").first.map(String.init) : nil,
        username: username, name: nil, environment: environment, isHomeTenant: tenant == home, claims: nil)
    }
    return Account(
      homeAccountID: id, username: username, environment: environment,
      tenantProfiles: [profiles].compactMap(\.self), source: name)
  }
}

extension IdentityError {
  /// The one error for all that is no answer. What is known of it is a clause without a full stop and without secrets.
  static func lenderFailed(_ reason: String) -> IdentityError {
    IdentityError(
      .brokerFailed, "The lender failed: \(reason).", advice: "See what it says where the tokens are lent.")
  }
}
