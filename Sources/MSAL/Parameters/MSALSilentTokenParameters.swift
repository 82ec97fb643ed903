/// A request that is answered without the person: from the cache, or by means of a refresh token.
open class MSALSilentTokenParameters: MSALTokenParameters {
  /// Asks the server even if there is a valid token in the cache.
  open var forceRefresh = false
  /// Whether the application's own refresh token serves when the machine's identity broker is there and gives no token.
  open var allowUsingLocalCachedRtWhenSsoExtFailed = true

  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - account: One of the application's accounts.
  public init(scopes: [String], account: MSALAccount) {
    super.init(scopes: scopes)
    self.account = account
  }
}
