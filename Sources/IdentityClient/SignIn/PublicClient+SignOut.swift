import FoundationEssentials
import GLibSupport
import HTTPSupport
import Logging
public import TokenCache

extension PublicClient {
  /// How long to wait for a running renewal, so that its tokens are removed, too.
  private static let signOutLockTimeout = Duration.seconds(10)

  /// Signs an account out of this client, and of others if the options say so.
  ///
  /// - Throws: ``IdentityError``. The cache is cleared before the browser opens.
  public func signOut(
    _ account: Account, _ options: SignOutOptions = SignOutOptions()
  ) async throws(IdentityError) {
    do {
      try await withLock(
        of: account, within: Self.signOutLockTimeout,
        await cacheCall(await removeTokens(of: account, options)))
    } catch {
      throw failed(error, options.correlationID, account)
    }
    log(.info, "The account is signed out.", ["account": log.personal(account.homeAccountID)])
    if options.fromBrowser { try await endSession(of: account, options) }
  }

  private func removeTokens(of account: Account, _ options: SignOutOptions) async throws(CacheError) {
    guard options.wipeAccount || options.wipeCacheForAllAccounts else {
      try await cache.removeAccount(account.homeAccountID, clientID: configuration.clientID)
      return
    }
    // Otherwise a browser session would sign the account in again, or the broker would restore accounts that signed out
    // of this or another client.
    var signedOut: [String: Set<String>] = [:]
    if broker != nil && configuration.brokerPolicy != .off {
      signedOut = await accountsToWipe(account, options)
    } else if !options.wipeCacheForAllAccounts {
      signedOut = await clientsSignedOut(of: account.homeAccountID)
      signedOut[configuration.clientID] = [account.homeAccountID]
    }
    // Accounts are marked even if the removal fails.
    let removal = await Result<Void, CacheError>(awaiting: try await wipe(account, options))
    if !signedOut.isEmpty { try await cache.markSignedOut(signedOut) }
    try removal.get()
  }

  private func wipe(_ account: Account, _ options: SignOutOptions) async throws(CacheError) {
    if options.wipeCacheForAllAccounts {
      try await cache.clear()
    } else {
      try await cache.removeAccount(account.homeAccountID)
    }
  }

  /// Returns the clients that an account signed out of, with its ID, so that no family refresh token restores it there.
  private func clientsSignedOut(of id: String) async -> [String: Set<String>] {
    // What cannot be read is wiped all the same.
    guard let snapshot = try? await cache.snapshot() else { return [:] }
    let clients = snapshot.homeAccountIDsByClient.keys.filter { client in
      (try? snapshot.accountMetadata(clientID: client, of: id))?.signInState(of: id) == .signedOut
    }
    return Dictionary(uniqueKeysWithValues: clients.map { ($0, [id]) })
  }

  /// Returns the accounts to wipe by the clients that know them.
  private func accountsToWipe(_ account: Account, _ options: SignOutOptions) async -> [String: Set<String>] {
    // What cannot be read is wiped all the same.
    let snapshot = try? await cache.snapshot()
    let (clientID, id) = (configuration.clientID, account.homeAccountID)
    var accounts = snapshot?.homeAccountIDsByClient ?? [:]
    if options.wipeCacheForAllAccounts {
      let signedIn = (try? snapshot?.accounts(AccountFilter(clientID: clientID))) ?? []
      accounts[clientID, default: []].formUnion(signedIn.map(\.homeAccountID))
    } else {
      accounts = accounts.compactMapValues { known in
        known.contains { $0.normalized == id.normalized } ? [id] : nil
      }
    }
    accounts[clientID, default: []].insert(id)
    return accounts
  }

  /// Ends the browser's session (OpenID Connect RP-Initiated Logout 1.0).
  package func endSession(of account: Account, _ options: SignOutOptions) async throws(IdentityError) {
    do {
      try await openSignOutPage(account, options)
    } catch {
      throw failed(error, options.correlationID, account)
    }
  }

  private func openSignOutPage(_ account: Account, _ options: SignOutOptions) async throws(IdentityError) {
    guard let authenticator else { throw .noAuthenticator }
    let authority = options.authority ?? configuration.authority
    guard let endpoint = try await metadata(of: authority).endSessionEndpoint else {
      throw IdentityError(
        .invalidParameter, "The authority has no page to sign out.",
        advice: "Sign out in the browser yourself.")
    }
    let state = randomToken()
    let home = account.tenantProfiles.first(where: \.isHomeTenant)
    var parameters = try configuration.extraParameters(options.extraQueryParameters)
    parameters["state"] = state
    if let hint = home?.claims?.string("login_hint") { parameters["logout_hint"] = hint }
    if authority.isMicrosofts {
      parameters["client-request-id"] = options.correlationID.text
    } else {
      // Other servers redirect only to a registered address of the client (section 3).
      parameters["client_id"] = configuration.clientID
    }
    let response = try await browserSession.run(
      authenticator, redirectURI: configuration.redirectURI, responseMode: .query, state: state,
      timeout: options.timeout, correlationID: options.correlationID, account: account
    ) { [parameters] redirectURI in
      endpoint.appending(
        query: parameters.merging(["post_logout_redirect_uri": redirectURI.absoluteString]) { $1 })
    }
    if let error = IdentityError(redirect: response.parameters) { throw error }
  }
}

extension IdentityError {
  static let noAuthenticator = IdentityError(
    .noAuthenticator, "The client has no means to open a browser.",
    advice: "Make it with an authenticator, or sign in by a device code.")
}
