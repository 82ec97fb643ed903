import FoundationEssentials
import HTTPSupport
import GLibSupport
import Logging
import TokenCache

/// One call that signs an account out.
struct SignOut: Sendable {
  let client: PublicClient
  let account: Account
  let options: SignOutOptions

  /// How long to wait for a renewal that is under way, so that its tokens are removed too.
  private static let lockTimeout = Duration.seconds(10)

  func run() async throws(IdentityError) {
    let shard = ShardID(homeAccountID: account.homeAccountID, group: client.cache.group)
    try await client.locks.withLock(of: shard, within: Self.lockTimeout) { () async throws(IdentityError) in
      try await clear()
    }
    client.log(.info, "The account is signed out.", ["account": client.log.personal(account.homeAccountID)])
    if options.fromBrowser { try await endSession() }
  }

  private func clear() async throws(IdentityError) {
    let (cache, clientID) = (client.cache, client.configuration.clientID)
    try await cacheCall { () async throws(CacheError) in
      guard options.wipeAccount || options.wipeCacheForAllAccounts else {
        return _ = try await cache.removeAccount(account.homeAccountID, clientID: clientID)
      }
      // Else the broker would bring back accounts that signed out of this client or another one.
      let hasBroker = client.broker != nil && client.configuration.brokerPolicy != .off
      let signedOut = hasBroker ? await accountsToWipe() : [:]
      if options.wipeCacheForAllAccounts {
        try await cache.clear()
      } else {
        try await cache.removeAccount(account.homeAccountID)
      }
      if hasBroker { try await cache.markSignedOut(signedOut) }
    }
  }

  /// The accounts that are wiped, by the clients that know them.
  private func accountsToWipe() async -> [String: Set<String>] {
    // What cannot be read is wiped all the same.
    let snapshot = try? await client.cache.snapshot()
    let (clientID, id) = (client.configuration.clientID, account.homeAccountID)
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
  private func endSession() async throws(IdentityError) {
    guard let authenticator = client.authenticator else { throw .noAuthenticator }
    let authority = options.authority ?? client.configuration.authority
    guard let endpoint = try await client.resolver.metadata(of: authority).endSessionEndpoint else {
      throw IdentityError(
        .invalidParameter, "The authority has no page to sign out.",
        advice: "Sign out in the browser yourself.")
    }
    let extra = try client.configuration.extraParameters(options.extraQueryParameters)
    let hint = account.tenantProfiles.first(where: \.isHomeTenant)?.claims?.string("login_hint")
    let state = randomToken()
    let correlationID = options.correlationID.uuidString.lowercased()
    let response = try await client.browserSession.run(
      authenticator, redirectURI: client.configuration.redirectURI, responseMode: .query, state: state,
      timeout: options.timeout, correlationID: options.correlationID, account: account
    ) { redirectURI throws(IdentityError) in
      var parameters = extra
      parameters["post_logout_redirect_uri"] = redirectURI.absoluteString
      parameters["state"] = state
      parameters["logout_hint"] = hint
      if authority.isMicrosofts {
        parameters["client-request-id"] = correlationID
      } else {
        // Other servers redirect only to an address of a client that they know (section 3).
        parameters["client_id"] = client.configuration.clientID
      }
      return endpoint.appending(query: parameters)
    }
    if let failure = OAuthFailure(parameters: response.parameters) { throw IdentityError(failure) }
  }
}

extension IdentityError {
  static let noAuthenticator = IdentityError(
    .noAuthenticator, "The client has no means to open a browser.",
    advice: "Make it with an authenticator, or sign in by a device code.")
}
