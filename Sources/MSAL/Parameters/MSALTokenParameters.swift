public import Foundation

/// What every request for a token can be told. Programs use its subclasses.
open class MSALTokenParameters: MSALParameters {
  /// What the token is for, such as `https://graph.microsoft.com/user.read`. `openid`, `profile` and
  /// `offline_access` are asked for in any case and must not be listed.
  open var scopes: [String]
  /// The account that the token is for.
  open var account: MSALAccount?
  /// The authority to ask, instead of that of the application.
  open var authority: MSALAuthority?
  /// Claims that the token should have. Such a request is always put to the server.
  open var claimsRequest: MSALClaimsRequest?
  /// Parameters to add to the request, by name.
  open var extraQueryParameters: [String: String]?
  /// The id under which the server's logs know the request; a new one unless it is set.
  open var correlationId: UUID?
  /// How the token is to be used; `nil` is Bearer.
  open var authenticationScheme: (any MSALAuthenticationSchemeProtocol)?
  /// See `Inert`.
  var inertXpcMode = MSALXpcMode.disabled

  /// - Parameter scopes: What the token is for.
  public init(scopes: [String]) {
    self.scopes = scopes
  }
}
