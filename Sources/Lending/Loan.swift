import FoundationEssentials
public import IdentityClient
public import TokenCache

/// What is lent: access tokens of one account, for just these scopes, for some time.
public struct Loan: Sendable {
  /// The longest loan. After that time Entra ID asks for a new sign-in, where a policy demands one at all;
  /// a loan that lasts longer than a week is one that was forgotten.
  public static let longestDuration = Duration.seconds(7 * 86400)

  /// Each is the scopes of one token, in the words by which it is asked for.
  public let scopes: [[String]]
  /// Whose tokens they are.
  public let account: Account
  /// The application that the tokens are issued to.
  public let clientID: String
  /// Who issues them.
  public let authority: Authority
  /// How long it lasts: on the clock, and since the machine was started, whichever ends first.
  public let duration: Duration

  /// - Throws: ``IdentityError/Code/invalidParameter``: for scopes that are invalid or never lent (`openid`, `profile`,
  ///   `offline_access`), and for a duration that is not positive or is longer than ``longestDuration``.
  public init(
    scopes: [[String]], account: Account, clientID: String, authority: Authority, duration: Duration
  ) throws(IdentityError) {
    guard !scopes.isEmpty, !scopes.contains(where: \.isEmpty) else {
      throw IdentityError(.invalidParameter, "A loan needs scopes.")
    }
    for scopes in scopes { _ = try RequestedScopes(scopes, clientID: clientID, authority: authority) }
    guard duration > .zero, duration <= Self.longestDuration else {
      throw IdentityError(
        .invalidParameter, "A loan lasts for some time, and for a week at most.", advice: "Lend again then.")
    }
    self.scopes = scopes
    self.account = account
    self.clientID = clientID
    self.authority = authority
    self.duration = duration
  }

  /// The scopes of the token that serves a request, the fewest where several do.
  ///
  /// Scopes are compared without regard to case, order and repetition; a scope of Microsoft Graph is the same with Graph's
  /// address and without. Whatever else a server takes for the same is another scope here. What a client adds to every
  /// request counts for nothing.
  ///
  /// - Returns: The loan's own words, which alone ever reach a server; `nil` for more than what is lent, and for nothing.
  func scopes(for asked: [String]) -> [String]? {
    let asked = Self.names(asked).subtracting(RequestedScopes.reserved)
    guard !asked.isEmpty else { return nil }
    return scopes.filter { asked.isSubset(of: Self.names($0)) }.min { $0.count < $1.count }
  }

  private static func names(_ scopes: [String]) -> Set<String> {
    Set(ScopeSet(scopes).scopes.map(RequestedScopes.shortName))
  }

  /// Whether an identity that a request names is the loan's.
  func isNamed(_ identity: String) -> Bool {
    [clientID, account.homeAccountID, account.username].contains { $0?.normalized == identity.normalized }
  }

  /// The tenant that issues the tokens.
  var tenantID: String? {
    let home = account.tenantProfiles.first(where: \.isHomeTenant)?.tenantID
    return authority.namesManyTenants ? home : authority.tenant ?? home
  }

  func description(end: Date) -> LoanDescription {
    LoanDescription(
      scopes: scopes.map { $0.joined(separator: " ") }, clientID: clientID,
      authority: authority.url.absoluteString, environment: account.environment, username: account.username,
      homeAccountID: account.homeAccountID, tenantID: tenantID,
      expiresOn: "\(Int64(end.timeIntervalSince1970))")
  }
}
