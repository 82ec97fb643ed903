/// A request that is answered without the person: from the cache, or by means of a refresh token.
open class MSALSilentTokenParameters: MSALTokenParameters {
  /// Asks the server even if there is a valid token in the cache.
  open var forceRefresh = false
  /// See `Inert`.
  var inertCachedTokenUse = true

  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - account: One of the application's accounts.
  public init(scopes: [String], account: MSALAccount) {
    super.init(scopes: scopes)
    self.account = account
  }
}
