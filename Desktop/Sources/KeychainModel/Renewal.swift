import FoundationEssentials
import IdentityClient
import Localization
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
      throw Trouble(
        IdentityError(.accountNotFound, localized("The cache has no record of the token’s account.")))
    }
    let authority = try authority(
      of: token.environment ?? "", token.tenantID, account: id, in: snapshot)
    let client = try client(clientID, authority, trusting: self.authority, of: cache(of: group))
    let request = SilentRequest(
      scopes: authority.scopesToRenew(token.scopes, of: clientID), account: account, forceRefresh: true)
    do throws(IdentityError) {
      let result = try await client.acquireTokenSilent(request)
      if let error = result.cacheError { throw IdentityError(.cache, error.message, advice: error.advice) }
    } catch {
      finishing(client)
      throw await refused(token, of: account, in: group, error)
    }
  }

  /// Notes that a server refused to renew a token, where it did.
  private func refused(
    _ token: TokenEntry, of account: Account, in group: KeychainGroup, _ error: IdentityError
  ) async -> Trouble {
    guard error.code.needsSignIn else { return Trouble(error) }
    let signIn =
      error.canBeResolvedBySignIn
      ? SignInRequest(token, accountName: account.username, claims: error.claims) : nil
    // The library may have removed the refresh token.
    if let snapshot = try? await snapshot(of: group), let credential = try? snapshot.credential(of: token) {
      let refusal = Refusal(signIn: signIn, fingerprint: snapshot.fingerprint(of: credential))
      refusals.withLock { $0[TokenPlace(group: group, id: token.id)] = refusal }
    }
    return Trouble(error, signIn: signIn)
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

  /// The authority for tokens of an account: the person's authority where they are of its host, else their tenant in their cloud.
  func authority(
    of host: String, _ tenant: String?, account id: String?, in snapshot: CacheSnapshot
  ) throws(Trouble) -> Authority {
    let tenant = tenant ?? "common"
    do throws(IdentityError) {
      if let named = self.authority, [named.environment, named.host].contains(host.lowercased()) {
        return named.tenant == nil ? named : try named.replacingTenant(with: tenant)
      }
      let isADFS = snapshot.document.accounts.values.contains {
        $0.homeAccountID == id && $0.accountType == .adfs
      }
      return try Authority("https://\(host)/\(isADFS ? "adfs" : tenant)")
    } catch {
      throw Trouble(
        localized("Unknown Authority"),
        localized("The cache does not name the authority that issued the token: %s", error.message),
        advice: localized("Set LLAVERO_AUTHORITY to its URL."))
    }
  }
}

extension Authority {
  /// What a renewal of a token asks for. `/.default` stands for all scopes, and Entra ID refuses others beside it.
  func scopesToRenew(_ scopes: [String], of clientID: String) -> [String] {
    let asked = scopes.filter { !reserves($0, for: clientID) }
    return asked.first { $0.lowercased().hasSuffix("/.default") }.map { [$0] } ?? asked
  }
}
