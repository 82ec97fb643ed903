import Foundation
import IdentityBroker
import IdentityClient
import TokenCache

extension MSALPublicClientApplication {
  /// Runs work and calls the block with its outcome on a queue, by default one of the library's, since the block may block. With
  /// `waits` the block is called before this returns if `queue` is `nil`, as MSAL for iOS and macOS does for work on the cache
  /// alone. Programs rely on it.
  func complete<T: Sendable>(
    _ block: @escaping @Sendable (T?, (any Error)?) -> Void, on queue: DispatchQueue?, waits: Bool = false,
    _ work: @escaping @Sendable () async throws -> T
  ) {
    let call = { @Sendable (outcome: Result<T, any Error>) in
      switch outcome {
      case .success(let value): block(value, nil)
      case .failure(let error): block(nil, error)
      }
    }
    if waits, queue == nil { return call(Result { try blocking(work) }) }
    Task {
      let outcome = await Result.catching(work)
      (queue ?? .global()).async { call(outcome) }
    }
  }

  func result(of request: SilentRequest) async throws -> MSALResult {
    report(try await call(await client.acquireTokenSilent(request)))
  }

  func result(of request: InteractiveRequest) async throws -> MSALResult {
    report(try await session(await self.client.acquireToken(request)))
  }

  func result(of request: DeviceCodeRequest) async throws -> MSALResult {
    report(try await session(await self.client.acquireToken(request)))
  }

  /// Makes a call of the client and turns its errors into those of this module.
  private func call<T>(_ call: @autoclosure () async throws(IdentityError) -> T) async throws -> T {
    do {
      return try await call()
    } catch {
      throw NSError(error)
    }
  }

  /// Makes a call that ends by the class method as well.
  private func session<T: Sendable>(
    _ work: @escaping @Sendable @autoclosure () async throws(IdentityError) -> T
  ) async throws -> T {
    try await WebSessions.run(client) { [self] in try await call(await work()) }
  }

  /// Notifies the providers of external accounts, unless the token was cached: then they know of the account.
  private func report(_ result: AuthenticationResult) -> MSALResult {
    let isCached = result.source == .cache
    let result = MSALResult(result)
    for provider in config.cacheConfig.externalAccountProviders where !isCached {
      logFailure { try provider.update(result.account, idTokenClaims: result.tenantProfile.claims ?? [:]) }
    }
    return result
  }

  /// The accounts of the cache, and of the broker if requested, with the tenant profiles that an external provider adds, then
  /// those that only such a provider has. It may still have accounts that were signed out of this application.
  func accounts(_ query: AccountsQuery, fromDevice: Bool = false) async throws -> [MSALAccount] {
    var accounts = try await call(
      await fromDevice ? client.accountsFromDevice(query.filter) : client.accounts(query.filter)
    ).filter(query.matches)
    for provider in config.cacheConfig.externalAccountProviders {
      var others: [Account] = []
      logFailure {
        let parameters = MSALAccountEnumerationParameters(query)
        others = try provider.accounts(with: parameters).compactMap(Account.init).filter(query.matches)
      }
      let listed = try await call(await client.removingSignedOut(from: others, query.filter))
      accounts = accounts.merging(listed)
    }
    return accounts.map { MSALAccount($0) }
  }

  /// The device's claims in the newest token of the broker, the only source.
  func deviceInformation() async throws -> MSALDeviceInformation {
    guard MSALGlobalConfig.brokerAvailability == .auto else {
      throw NSError(
        .internalBrokerNotAvailable, "The identity broker may not be used.",
        advice: "Set MSALGlobalConfig.brokerAvailability to .auto.")
    }
    // Only the broker's tokens have these claims.
    guard client.configuration.brokerPolicy != .off else { return MSALDeviceInformation() }
    let document = try? await client.cache.snapshot().document
    let claims = (document?.accessTokens.values ?? [:].values)
      .filter { $0.source == LinuxBroker.source }
      .sorted { ($0.cachedAt ?? .distantPast) > ($1.cachedAt ?? .distantPast) }
      .lazy.compactMap { $0.secret.flatMap(IDTokenClaims.init(token:)) }.first {
        $0.string("deviceid") != nil
      }
    return MSALDeviceInformation(deviceID: claims?.string("deviceid"), tenantID: claims?.tenantID)
  }

  func account(
    for parameters: MSALAccountEnumerationParameters, named name: String, userInfo: [String: Any]
  ) throws -> MSALAccount {
    // Without a value any account would match.
    guard (parameters.identifier ?? parameters.username).nonBlank != nil,
      let account = try accounts(for: parameters).first
    else {
      throw NSError.notFound(
        "No account with \(name) is signed in to this application.", advice: "Sign in interactively.",
        userInfo: userInfo)
    }
    return account
  }

  /// The one account that is signed in, and that of the call before. It is remembered in the cache.
  func currentAccount() async throws -> (current: MSALAccount?, previous: MSALAccount?) {
    let accounts = try await accounts(AccountsQuery(), fromDevice: true)
    do {
      // An unreadable account may be a second one, or the previous one.
      try await client.cache.snapshot().checkComplete()
      guard accounts.count <= 1 else {
        throw NSError(
          .internalErrorAmbiguousAccount, "\(accounts.count) accounts are signed in where one was expected.",
          advice: "Sign all but one out, or use allAccounts().")
      }
      return (accounts.first, try await replacePrincipal(accounts.first?.account).map { MSALAccount($0) })
    } catch let error as CacheError {
      // Where only the broker is asked, the cache may be unavailable.
      guard client.configuration.brokerPolicy == .required, error.code != .cancelled, accounts.count <= 1
      else { throw NSError(error) }
      return (accounts.first, nil)
    }
  }

  /// Remembers the one account of the application, and returns that of before, with its tenant profiles if the cache still has
  /// them.
  private func replacePrincipal(_ current: Account?) async throws(CacheError) -> Account? {
    let clientID = client.configuration.clientID
    let metadata = try await client.cache.accountMetadata(clientID: clientID, of: nil)
    let previous = metadata?.principalHomeAccountID
    if previous?.lowercased() == current?.homeAccountID.lowercased() { return current }
    try await client.cache.updateAccountMetadata(clientID: clientID, of: nil) {
      $0.principalHomeAccountID = current?.homeAccountID
      $0.principalUsername = current?.username
      $0.principalAccountEnvironment = current?.environment
    }
    guard let previous else { return nil }
    let filter = AccountFilter(clientID: clientID, signedInOnly: false, homeAccountID: previous)
    return try await client.cache.accounts(filter).first
      ?? Account(
        homeAccountID: previous, username: metadata?.principalUsername,
        environment: metadata?.principalAccountEnvironment ?? "", tenantProfiles: [])
  }

  func signOut(
    _ account: MSALAccount, _ options: SignOutOptions = SignOutOptions(), wiping peers: PeerCaches? = nil
  ) async throws {
    // A failure is reported, and the others continue.
    var failure: (any Error)?
    do {
      try await peers?.wipe()
    } catch {
      failure = NSError(error)
    }
    var removal = options
    removal.fromBrowser = false
    do {
      try await call(await client.signOut(account.account, removal))
    } catch {
      // The account is still signed in, which its providers must not take for signed out.
      throw failure ?? error
    }
    if options.fromBrowser {
      do {
        // Only what waits for the browser ends by the class method.
        try await session(await self.client.endSession(of: account.account, options))
      } catch {
        failure = failure ?? error
      }
    }
    for provider in config.cacheConfig.externalAccountProviders {
      do {
        try provider.remove(
          account, wipeAccount: options.wipeAccount, tenantProfiles: account.tenantProfiles)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure as NSError }
  }

  /// Logs another library's failure, which does not end the call.
  private func logFailure(_ work: () throws -> Void) {
    do {
      try work()
    } catch {
      let error = error as NSError
      MSALGlobalConfig.loggerConfig.log(
        .warning, "A provider of external accounts failed: \(error.domain) \(error.code)", containsPII: false)
    }
  }
}

func unregisteredDevice() -> NSError {
  NSError(
    .internalBrokerNotAvailable, "Linux has no registration of the device that this library could use.")
}

extension Account {
  /// An account of another library; `nil` without a home account id.
  fileprivate init?(_ account: any MSALAccountProtocol) {
    guard let identifier = account.identifier ?? account.homeAccountId?.identifier else { return nil }
    var profiles = account.tenantProfiles ?? []
    // Programs for iOS and macOS cannot make tenant profiles.
    if profiles.isEmpty, let claims = account.accountClaims, !claims.isEmpty {
      let home = Tenant.home(of: identifier)
      let tenant = (claims["tid"] as? String)?.lowercased() ?? home ?? ""
      profiles = [
        MSALTenantProfile(
          identifier: (claims["oid"] ?? claims["sub"]) as? String, tenantId: tenant,
          environment: account.environment, isHomeTenantProfile: tenant == home, claims: claims)
      ]
    }
    self.init(
      homeAccountID: identifier, username: account.username, environment: account.environment,
      tenantProfiles: profiles.map(\.profile))
  }
}
