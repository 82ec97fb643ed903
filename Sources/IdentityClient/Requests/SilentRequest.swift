public import FoundationEssentials
public import TokenCache

/// A request for a token of an account that is signed in.
///
/// For example:
///
/// ```swift
/// let result = try await client.acquireTokenSilent(
///   SilentRequest(scopes: ["User.Read"], account: account))
/// ```
public struct SilentRequest: Sendable {
  /// The requested scopes.
  public var scopes: [String]
  public var account: Account
  /// Whether to bypass a valid access token in the cache.
  public var forceRefresh: Bool
  /// The claims of a challenge. With them no access token comes from the cache.
  public var claims: ClaimsRequest?
  /// The scheme of a token that is bound to a key; `nil` for a bearer token.
  public var authenticationScheme: PopScheme?
  /// Whether to use the client's own refresh token if the broker returns no token.
  public var refreshesWithoutBroker = true
  public var extraQueryParameters: [String: String] = [:]
  /// The authority, in place of the configured one.
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
