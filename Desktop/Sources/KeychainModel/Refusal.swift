import IdentityClient
import TokenCache

/// That the server refused to renew a token.
struct Refusal: Sendable, Hashable {
  /// The sign-in that helps; `nil` where none does.
  let signIn: SignInRequest?
  /// Of the tokens that it is about, for as long as they are in the cache.
  let fingerprint: Int
}

/// A token of a group.
struct TokenPlace: Sendable, Hashable {
  let group: KeychainGroup
  let id: TokenEntry.ID
}

extension CacheSnapshot {
  /// Differs after a renewal of a token, and after a sign-in to its client.
  func fingerprint(of credential: Credential) -> Int {
    var hasher = Hasher()
    hasher.combine(credential.secret)
    if let lookup = credential.lookup { hasher.combine(refreshTokens(for: lookup).map(\.secret)) }
    return hasher.finalize()
  }
}

extension Credential {
  /// What finds the refresh tokens that its client may use; `nil` for tokens of no account.
  var lookup: TokenLookup? {
    guard let clientID, let homeAccountID else { return nil }
    return TokenLookup(
      homeAccountID: homeAccountID, environment: environment ?? "", clientID: clientID)
  }
}
