public import FoundationEssentials
public import TokenCache

/// A request for a token of an account that is signed in already.
public struct SilentRequest: Sendable {
  /// What the token is for.
  public var scopes: [String]
  public var account: Account
  /// Whether to get a new access token although there is a good one.
  public var forceRefresh: Bool
  /// The claims that a challenge asked for; with them no access token is taken from the cache.
  public var claims: ClaimsRequest?
  /// For a token that is bound to a key; `nil` for a bearer token.
  public var authenticationScheme: PopScheme?
  /// Whether the client's own refresh token serves when there is a broker and it gives no token.
  public var refreshesWithoutBroker = true
  public var extraQueryParameters: [String: String] = [:]
  /// The authority to ask in place of the configured one.
  public var authority: Authority?
  public var correlationID = UUID.random()

  public init(
    scopes: [String], account: Account, forceRefresh: Bool = false, claims: ClaimsRequest? = nil,
    authority: Authority? = nil
  ) {
    self.scopes = scopes
    self.account = account
    self.forceRefresh = forceRefresh
    self.claims = claims
    self.authority = authority
  }
}
