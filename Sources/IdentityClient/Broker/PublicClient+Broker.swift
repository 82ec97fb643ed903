public import FoundationEssentials
import Logging
public import TokenCache

extension PublicClient {
  /// Whether a broker is there that this client may ask.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed`` when that cannot be found out.
  public func isBrokerAvailable() async throws(IdentityError) -> Bool {
    guard configuration.brokerPolicy != .off, let broker else { return false }
    return try await broker.isAvailable()
  }

  /// Lists the accounts of the cache and those for which the broker gives tokens, each once. Their
  /// `Account.source` says which are the broker's.
  ///
  /// An account that was signed out of this client is not listed because the broker has it, unless the filter asks for
  /// such. Where the broker is not required, one that fails is none.
  ///
  /// - Throws: ``IdentityError/Code/cache``, and what the broker throws.
  public func accountsFromDevice(
    _ filter: AccountFilter = AccountFilter(), correlationID: UUID? = nil
  ) async throws(IdentityError) -> [Account] {
    var filter = filter
    let clientID = filter.clientID ?? configuration.clientID
    filter.clientID = clientID
    let fixed = filter
    let own = try await readingCache { () async throws(CacheError) in try await cache.accounts(fixed) } ?? []
    guard let broker = try broker(for: configuration.authority) else { return own }
    let theirs: [Account]
    do {
      theirs = try await broker.accounts(clientID: clientID, correlationID: correlationID ?? .random())
    } catch {
      guard configuration.brokerPolicy == .automatic, error.code != .cancelled else { throw error }
      log.info("The broker lists no accounts.", ["code": "\(error.code.rawValue)"])
      return own
    }
    let metadata = try await accountMetadata(clientID: clientID)
    return own.merging(
      theirs.filter { account in
        filter.names(account) && isOfSameCloud(account)
          && (!filter.signedInOnly || metadata?.signInState(of: account.homeAccountID) != .signedOut)
      })
  }

  /// The broker, where it serves an authority. A token that is to be bound to a key of the group comes from
  /// no broker.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` where one is required.
  func broker(
    for authority: Authority, binding isBound: Bool = false
  ) throws(IdentityError) -> (any TokenBroker)? {
    guard configuration.brokerPolicy != .off else { return nil }
    if let broker, broker.serves(authority), !isBound { return broker }
    guard configuration.brokerPolicy == .required else { return nil }
    throw IdentityError(
      .noBroker,
      broker == nil ? "This client has no broker." : "The broker gives no such token for \(authority).",
      advice: "Do without the broker, or name an authority that it serves, and no scheme.")
  }

  /// Reads the cache. One that is out of reach counts as none where the broker is required, which has the tokens.
  func readingCache<T>(
    _ body: () async throws(CacheError) -> T?
  ) async throws(IdentityError) -> T? {
    do throws(CacheError) {
      return try await body()
    } catch {
      guard configuration.brokerPolicy == .required, error.code != .cancelled else {
        throw IdentityError(cache: error)
      }
      log.info("The cache cannot be read; the broker does without.", ["reason": "\(error.code.rawValue)"])
      return nil
    }
  }

  /// What is known of a client's accounts.
  func accountMetadata(clientID: String) async throws(IdentityError) -> AccountMetadata? {
    try await readingCache { () async throws(CacheError) in
      try await cache.accountMetadata(clientID: clientID)
    }
  }

  /// Tokens of one cloud are of no use in another. Of a host that nobody knows the cloud is not known either.
  private func isOfSameCloud(_ account: Account) -> Bool {
    let (clouds, host) = (cache.clouds, configuration.authority.host)
    return !clouds.contains(account.environment) || !clouds.contains(host)
      || clouds.canonical(account.environment) == clouds.canonical(host)
  }
}

extension [Account] {
  /// These accounts with what another list knows of them, and then the others of that list.
  fileprivate func merging(_ others: [Account]) -> [Account] {
    let known = map { own in
      others.first { own.isSame(as: $0) }.map { own.merging($0) } ?? own
    }
    return known + others.filter { other in !contains { $0.isSame(as: other) } }
  }
}

extension Account {
  fileprivate func isSame(as other: Account) -> Bool {
    homeAccountID.normalized == other.homeAccountID.normalized
  }

  fileprivate func merging(_ other: Account) -> Account {
    let more = other.tenantProfiles.filter { profile in
      !tenantProfiles.contains { $0.tenantID == profile.tenantID }
    }
    return Account(
      homeAccountID: homeAccountID, username: username ?? other.username, environment: environment,
      tenantProfiles: tenantProfiles + more, source: other.source ?? source)
  }
}
