public import FoundationEssentials
import GLibSupport
public import IdentityClient
public import TokenCache

/// The terms of a loan: access tokens of one account, for these scopes alone, for a limited time. A ``Lender`` offers
/// them, a ``LoanBroker`` gets them from a lender.
///
/// For example:
///
/// ```swift
/// let loan = try Loan(
///   scopes: [["User.Read"]], account: account, clientID: clientID,
///   authority: configuration.authority, duration: .seconds(3600))
/// ```
public struct Loan: Sendable, Hashable {
  /// The longest loan. After that time Entra ID asks for a new sign-in, where a policy demands one at all;
  /// a loan that lasts longer than a week is one that was forgotten.
  public static let longestDuration = Duration.seconds(7 * 86400)

  /// Each is the scopes of one token, in the words by which it is requested.
  public let scopes: [[String]]
  /// The account whose tokens are lent.
  public let account: Account
  /// The application that the tokens are issued to.
  public let clientID: String
  /// The authority that issues the tokens.
  public let authority: Authority
  /// The tenant that issues the tokens; `nil` if it is not known.
  public let tenantID: String?
  /// When the loan ends. A lender ends it earlier when its duration has passed on a clock that was not put back.
  public let end: Date

  /// Makes a lender's terms.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for scopes that are invalid or never lent (`openid`, `profile`,
  ///   `offline_access`), and for a duration that is not positive or is longer than ``longestDuration``.
  public init(
    scopes: [[String]], account: Account, clientID: String, authority: Authority, duration: Duration,
    from start: Date = Date()
  ) throws(IdentityError) {
    guard !scopes.isEmpty, !scopes.contains(where: \.isEmpty) else {
      throw IdentityError(.invalidParameter, "A loan needs scopes.")
    }
    for scopes in scopes { _ = try RequestedScopes(scopes, clientID: clientID, authority: authority) }
    guard duration > .zero, duration <= Self.longestDuration else {
      throw IdentityError(
        .invalidParameter, "Invalid duration of a loan: expected at most a week.",
        advice: "Lend again after that.")
    }
    self.scopes = scopes
    self.account = account
    self.clientID = clientID
    self.authority = authority
    let home = account.tenantProfiles.first(where: \.isHomeTenant)?.tenantID
    tenantID = authority.namesManyTenants ? home : authority.tenant ?? home
    end = start + duration / .seconds(1)
  }

  init(_ response: LenderResponse, source: String) throws(IdentityError) {
    let kind = try response.optionalText("authority_kind").flatMap(Authority.Kind.init(rawValue:))
    guard let url = URL(string: try response.text("authority")),
      let authority = try? kind.map({ try Authority(url: url, kind: $0) }) ?? Authority(url: url)
    else { throw .lenderFailed("its response names no valid authority") }
    clientID = try response.text("client_id")
    guard Optional(clientID).nonBlank != nil, clientID == clientID.printable() else {
      throw .lenderFailed("its response names no valid client")
    }
    self.authority = authority
    end = try response.date("expires_on")
    scopes = try response.texts("scopes").map { ScopeSet.list($0.printable()) }
    tenantID = try response.optionalText("tenant_id")?.printable()
    account = try response.account(environment: try response.text("environment"), source: source)
  }

  /// The response to a request for the terms. Members that are not known are left out.
  var response: JSONObject {
    var members: JSONObject = [
      "scopes": .array(scopes.map { .string($0.joined(separator: " ")) }), "client_id": .string(clientID),
      "authority": .string(authority.url.absoluteString), "authority_kind": .string(authority.kind.rawValue),
      "environment": .string(account.environment),
      "home_account_id": .string(account.homeAccountID),
      "expires_on": .string("\(Int64(end.timeIntervalSince1970))"),
    ]
    members["username"] = account.username.map { .string($0) }
    members["tenant_id"] = tenantID.map { .string($0) }
    return members
  }

  /// The scopes of the token that serves a request, the fewest where several do.
  ///
  /// Scopes are compared without regard to case, order and repetition; a scope of Microsoft Graph is the same with Graph's
  /// address and without. Whatever else a server takes for the same is another scope here. What a client adds to every
  /// request counts for nothing.
  ///
  /// - Returns: The loan's own words, which alone ever reach a server; `nil` for more than what is lent, and for nothing.
  func scopes(for requested: [String]) -> [String]? {
    let requested = Self.names(requested).subtracting(RequestedScopes.reserved)
    guard !requested.isEmpty else { return nil }
    return scopes.filter { requested.isSubset(of: Self.names($0)) }.min { $0.count < $1.count }
  }

  private static func names(_ scopes: [String]) -> Set<String> {
    Set(ScopeSet(scopes).scopes.map(RequestedScopes.shortName))
  }

  /// Whether an identity that a request names is the loan's client or account.
  func matches(_ identity: String) -> Bool {
    [clientID, account.homeAccountID, account.username].contains { $0?.normalized == identity.normalized }
  }
}
