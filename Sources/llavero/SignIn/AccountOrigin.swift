import TokenCache

/// How an account came to be listed.
enum AccountOrigin: String, Encodable {
  /// The cache has its refresh token.
  case own
  /// The identity broker gives its tokens.
  case broker
  case both
  /// A lender gives its tokens.
  case lender

  /// - Parameters:
  ///   - account: The account.
  ///   - renews: Whether the cache has its refresh token.
  init(of account: Account, renews: Bool) {
    self = account.isBrokers ? (renews ? .both : .broker) : .own
  }
}
