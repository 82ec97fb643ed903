import FoundationEssentials
import GLibSupport
import Logging
import TokenCache

/// One call for a token of an account that is signed in: from the cache, else from the broker or by a refresh token.
struct SilentSignIn: Sendable {
  let client: PublicClient
  let request: SilentRequest
  let proof: PopProof?

  /// What makes two calls one: they are answered by one request to the server.
  struct Key: Hashable, Sendable {
    let account: String
    /// What the application named: the cache remembers which tenant answered for it.
    let requestedAuthority: Authority
    let authority: Authority
    let realm: String
    let scopes: ScopeSet
    let claims: String?
    let extra: [String: String]
    let forceRefresh: Bool
    let refreshesWithoutBroker: Bool
    /// Of the key that the token is bound to.
    let keyID: String?
  }

  /// How long to wait for another process that renews tokens of the same account.
  static let lockTimeout = Duration.seconds(60)
  /// A token that ends later than this, in seconds, was not issued by a sane clock.
  static let longestLifetime = 90.0 * 86400

  func run() async throws(IdentityError) -> AuthenticationResult {
    let search = try await search()
    if let result = search.result(ifFresh: try await search.cachedToken()) { return result }
    return try await client.renewals.run(search.key) { () async throws(IdentityError) in
      try await search.renew()
    }
  }

  /// The half of it that asks no server.
  func fromCache() async throws(IdentityError) -> AuthenticationResult? {
    let search = try await search()
    return search.result(ifFresh: try await search.cachedToken())
  }

  /// Finds out which tenant and cloud the request is about. No server is asked.
  private func search() async throws(IdentityError) -> SilentSearch {
    guard !request.account.homeAccountID.isEmpty else {
      throw IdentityError(.accountRequired, "A silent request needs an account.")
    }
    let asked = request.authority ?? client.configuration.authority
    let metadata = try await client.accountMetadata(clientID: client.configuration.clientID)
    if metadata?.signInState(of: request.account.homeAccountID) == .signedOut { throw .signedOut }
    let authority = try resolve(asked, metadata)
    let scopes = try RequestedScopes(request.scopes, client: client.configuration, authority: asked)
    return SilentSearch(
      client: client, request: request, requestedAuthority: asked, authority: authority, scopes: scopes,
      claims: try client.configuration.claimsParameter(request.claims), proof: proof,
      extra: try client.configuration.extraParameters(request.extraQueryParameters))
  }

  /// The authority of the account's own tenant in place of one that names none.
  private func resolve(
    _ asked: Authority, _ metadata: AccountMetadata?
  ) throws(IdentityError) -> Authority {
    let known = metadata?.resolvedAuthority(
      for: asked.address, homeAccountID: request.account.homeAccountID,
      instanceAware: client.configuration.multipleCloudsSupported)
    if let known, let url = URL(string: known), asked.kind == .aad,
      let authority = try? Authority(url: url, kind: .aad), isTrusted(authority, for: asked)
    {
      return authority
    }
    guard asked.needsHomeTenant(for: request.account), let home = request.account.homeIdentity?.utid else {
      return asked
    }
    return try asked.replacingTenant(with: home)
  }

  /// What stands in the cache cannot lead a refresh token to a host outside of the clouds that are known.
  private func isTrusted(_ authority: Authority, for asked: Authority) -> Bool {
    let clouds = client.cache.clouds
    return clouds.canonical(authority.host) == clouds.canonical(asked.host)
      || client.configuration.multipleCloudsSupported && clouds.contains(authority.host)
        && clouds.contains(asked.host)
  }
}

extension Authority {
  /// Whether a token of the account's home tenant is meant. An organisation's authority does not serve
  /// personal accounts, and should say so itself.
  func needsHomeTenant(for account: Account) -> Bool {
    guard namesManyTenants else { return false }
    return tenant?.lowercased() != "organizations"
      || account.homeIdentity?.utid.lowercased() != Tenant.personalAccounts
  }
}

extension IdentityError {
  static let signedOut = IdentityError(
    .interactionRequired, "Account is signed out, user interaction is required.")
}

/// Runs a call of the cache, and reports its failure as the client does.
func cacheCall<T>(
  _ body: () async throws(CacheError) -> T
) async throws(IdentityError) -> T {
  do throws(CacheError) {
    return try await body()
  } catch {
    throw IdentityError(cache: error)
  }
}
