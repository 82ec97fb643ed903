import TokenCache

/// Where an account comes from.
enum AccountOrigin: String, Encodable {
  /// A sign-in at the server, whose refresh token is in the cache.
  case own
  /// The identity broker, which signs it in.
  case broker
  case both
  /// The lender of its tokens.
  case lender

  /// - Parameters:
  ///   - account: The account.
  ///   - renews: Whether the cache has a refresh token of it.
  init(of account: Account, renews: Bool) {
    self = account.isBrokers ? (renews ? .both : .broker) : .own
  }
}
