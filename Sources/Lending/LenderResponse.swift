import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import IdentityClient
import TokenCache

/// A lender's response. Any program that got at the socket may have written it, so each member is checked.
struct LenderResponse {
  static let limits = JSONLimits(size: 1 << 18, depth: 16, values: 2000)

  private let members: JSONObject

  init(_ body: Data) throws(IdentityError) {
    do throws(ForeignJSONError) {
      members = try JSONObject(foreign: body, within: Self.limits)
    } catch {
      throw .lenderFailed("its response cannot be read: \(error)")
    }
  }

  /// The token in the response, and the tenant that issued it.
  func token(
    for request: BrokerRequest, source: String, at now: Date
  ) throws(IdentityError) -> (BrokerToken, tenant: String?) {
    let accessToken = try text("access_token")
    guard !accessToken.isEmpty, accessToken.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw .lenderFailed("its response has no valid access token")
    }
    guard try text("token_type").lowercased() == "bearer" else {
      throw .lenderFailed("it gave a token of another type than Bearer")
    }
    guard try text("client_id").lowercased() == request.clientID.lowercased() else {
      throw .lenderFailed("it gave a token of another client")
    }
    let end = try date("expires_on")
    guard end > now else {
      throw .lenderFailed("its token has expired, or one of the two machines' clocks is wrong")
    }
    let account = try account(
      environment: request.account?.environment ?? request.authority.environment, source: source)
    let token = BrokerToken(
      accessToken: accessToken, expiresOn: end,
      grantedScopes: Optional(try text("scope").printable()).nonBlank, account: account)
    return (token, try optionalText("tenant_id")?.printable())
  }

  static func refusal(in response: HTTPTransportResponse) -> IdentityError {
    let status = response.head.status.code
    guard let members = try? LenderResponse(response.body), let word = try? members.text("error"),
      let reason = try? members.text("error_description").printable()
    else {
      return .lenderFailed("it responded with the status \(status) and no reason")
    }
    var error: IdentityError
    switch LoanRefusal.Code(rawValue: word) {
    case .interactionRequired: error = .mustBeResolvedByLender(reason)
    case .temporarilyUnavailable:
      error = IdentityError(
        .network, "The lender cannot renew the token: \(reason)", advice: "Try again later.")
      error.transportError = .cannotConnect(error.message)
    case .invalidScope: error = IdentityError(.invalidScope, reason)
    case .unauthorizedClient: error = IdentityError(.unauthorizedClient, reason)
    case .accessDenied: error = IdentityError(.authorizationFailed, reason)
    case .invalidRequest, .invalidClient, .shortLived, .serverError, nil: error = .lenderFailed(reason)
    }
    error.oauthError = word.printable()
    error.httpStatus = status
    if let pause = response.head.headerFields[.retryAfter] { error.httpHeaders["Retry-After"] = pause }
    return error
  }

  func text(_ name: String) throws(IdentityError) -> String {
    guard let text = try optionalText(name) else { throw .lenderFailed("its response has no \(name)") }
    return text
  }

  /// `nil` for a member that is null or absent.
  func optionalText(_ name: String) throws(IdentityError) -> String? {
    switch members[name] {
    case nil, .null?: nil
    case .string(let text)?: text
    default: throw .lenderFailed("its response has an invalid \(name)")
    }
  }

  func texts(_ name: String) throws(IdentityError) -> [String] {
    let texts = members[name]?.arrayValue?.map(\.stringValue)
    guard let texts, !texts.contains(nil) else {
      throw .lenderFailed("its response has an invalid \(name)")
    }
    return texts.compactMap(\.self)
  }

  /// Seconds since 1970 in decimal digits, before the year 10000.
  func date(_ name: String) throws(IdentityError) -> Date {
    let digits = try text(name)
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Double(digits),
      seconds < 253_402_300_800
    else { throw .lenderFailed("its response has an invalid \(name)") }
    return Date(timeIntervalSince1970: seconds)
  }

  func account(environment: String, source: String) throws(IdentityError) -> Account {
    let id = try text("home_account_id")
    guard Optional(id).nonBlank != nil, id == id.printable() else {
      throw .lenderFailed("its response names no valid account")
    }
    let (userID, home) = (
      id.lowercased().split(separator: ".").first.map(String.init), Tenant.home(of: id.lowercased())
    )
    let username = try optionalText("username")?.printable()
    let environment = environment.printable().lowercased()
    let profile = try optionalText("tenant_id")?.printable().lowercased()
    let profiles = profile.map { tenant in
      TenantProfile(
        tenantID: tenant, localAccountID: tenant == home ? userID : nil, username: username, name: nil,
        environment: environment, isHomeTenant: tenant == home, claims: nil)
    }
    return Account(
      homeAccountID: id.lowercased(), username: username, environment: environment,
      tenantProfiles: [profiles].compactMap(\.self), source: source)
  }
}

extension IdentityError {
  /// The one error for every invalid response. The reason is a clause without a full stop and without secrets.
  static func lenderFailed(_ reason: String) -> IdentityError {
    IdentityError(
      .brokerFailed, "The lender failed: \(reason).",
      advice: "Check the lender's log where the tokens are lent.")
  }
}
