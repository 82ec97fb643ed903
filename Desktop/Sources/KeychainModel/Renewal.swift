import FoundationEssentials
import IdentityClient
import Synchronization
public import TokenCache

extension Keychain {
  /// Gets a new token in the place of one, by the refresh token of its client.
  ///
  /// A renewal that was cancelled goes on to its end: the server may have replaced the refresh token.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func renew(_ token: TokenEntry, in group: KeychainGroup) async throws(Trouble) {
    let snapshot = try await snapshot(of: group)
    _ = try snapshot.credential(of: token)
    guard let id = token.homeAccountID, let clientID = token.clientID, let account = snapshot.account(id)
    else {
      throw Trouble(IdentityError(.accountNotFound, "The cache has no record of the token's account."))
    }
    var configuration = ClientConfiguration(
      clientID: clientID, authority: try authority(of: token, in: snapshot))
    // An authority outside of the known clouds is trusted only because the person named it.
    configuration.knownAuthorities = self.authority.map { [$0] } ?? []
    configuration.httpTimeout = .seconds(60)
    configuration.applicationName = "llavero-desktop"
    let client = PublicClient(
      configuration: configuration, cache: cache(of: group), transport: try network())
    let request = SilentRequest(scopes: token.scopesToRenew, account: account, forceRefresh: true)
    do throws(IdentityError) {
      let result = try await client.acquireTokenSilent(request)
      if let error = result.cacheError { throw IdentityError(.cache, error.message, advice: error.advice) }
    } catch {
      finishing(client)
      throw Trouble(error)
    }
  }

  /// Keeps a cancelled renewal until it has ended.
  private func finishing(_ client: PublicClient) {
    renewals.withLock { renewals in
      let before = renewals
      renewals = Task {
        await client.finishRenewals()
        await before?.value
      }
    }
  }

  /// Waits for the renewals that were cancelled.
  @concurrent public func finish() async { await renewals.withLock(\.self)?.value }

  /// The authority that renews a token: the person's authority where the token is of its host, else its tenant in its cloud.
  private func authority(of token: TokenEntry, in snapshot: CacheSnapshot) throws(Trouble) -> Authority {
    let host = token.environment ?? ""
    let tenant = token.tenantID ?? "common"
    do throws(IdentityError) {
      if let named = self.authority, [named.environment, named.host].contains(host.lowercased()) {
        return named.tenant == nil ? named : try named.replacingTenant(with: tenant)
      }
      let isADFS = snapshot.document.accounts.values.contains {
        $0.homeAccountID == token.homeAccountID && $0.accountType == .adfs
      }
      return try Authority("https://\(host)/\(isADFS ? "adfs" : tenant)")
    } catch {
      throw Trouble(
        "Cannot Renew", "The cache does not name the authority that issued the token: \(error.message)",
        advice: "Set LLAVERO_AUTHORITY to its URL.")
    }
  }
}
