public import FoundationEssentials
import Logging
public import TokenCache

extension PublicClient {
  package var mayAskBroker: Bool { configuration.brokerPolicy != .off && isBrokerAllowed() }

  /// Whether there is a broker that this client may ask.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed`` if that cannot be determined.
  public func isBrokerAvailable() async throws(IdentityError) -> Bool {
    guard mayAskBroker, let broker else { return false }
    return try await broker.isAvailable()
  }

  /// Lists the accounts of the cache and of the broker, each once. `Account.source` marks those of the broker.
  ///
  /// Unless the filter asks for them, the broker's accounts that signed out of this client are left out, as are those
  /// whose part of the cache is unreadable. A failing broker counts as absent unless it is required.
  ///
  /// - Throws: ``IdentityError/Code/cache``, and what the broker throws.
  public func accountsFromDevice(
    _ filter: AccountFilter = AccountFilter(), correlationID: UUID? = nil
  ) async throws(IdentityError) -> [Account] {
    let fixed = ofThisClient(filter)
    let snapshot = try await readingCache(await cache.snapshot(for: fixed))
    return try await deviceAccounts(fixed, in: snapshot, correlationID: correlationID).accounts
  }

  /// Lists the accounts of ``accountsFromDevice(_:correlationID:)``, with the reason why the broker listed none.
  /// `snapshot` is the content of the group; `nil` if that is unavailable.
  package func deviceAccounts(
    _ filter: AccountFilter = AccountFilter(), in snapshot: CacheSnapshot?, correlationID: UUID? = nil
  ) async throws(IdentityError) -> DeviceAccounts {
    let filter = ofThisClient(filter)
    let clientID = filter.clientID ?? ""
    let own = try await readingCache(snapshot?.accounts(filter))
    guard let broker = try broker(for: configuration.authority) else {
      return DeviceAccounts(accounts: own ?? [])
    }
    let theirs: [Account]
    do {
      theirs = try await broker.accounts(clientID: clientID, correlationID: correlationID ?? .random())
    } catch  where configuration.brokerPolicy == .automatic && error.code != .cancelled {
      log(.info, "The broker lists no accounts.", ["code": "\(error.code.rawValue)"])
      return DeviceAccounts(accounts: own ?? [], brokerFailure: error.code == .noBroker ? nil : error)
    }
    // The broker does not need the cache.
    let readable = own == nil ? nil : snapshot
    return DeviceAccounts(
      accounts: (own ?? []).merging(
        theirs.filter { account in
          filter.matches(account) && isOfSameCloud(account)
            && !(filter.signedInOnly && isSignedOut(account, of: clientID, in: readable))
        }))
  }

  /// Returns another library's accounts. Unless the filter asks for them, those that signed out of this client are left
  /// out, as are those whose part of the cache is unreadable.
  package func removingSignedOut(
    from accounts: [Account], _ filter: AccountFilter
  ) async throws(IdentityError) -> [Account] {
    guard filter.signedInOnly, !accounts.isEmpty else { return accounts }
    let filter = ofThisClient(filter)
    let snapshot = try await readingCache(await cache.snapshot(for: filter))
    return accounts.filter { !isSignedOut($0, of: filter.clientID ?? "", in: snapshot) }
  }

  /// Whether an account signed out of a client. It counts as signed out if its part of the cache is unreadable, but not
  /// if there is no cache.
  private func isSignedOut(_ account: Account, of clientID: String, in snapshot: CacheSnapshot?) -> Bool {
    guard let snapshot else { return false }
    do throws(CacheError) {
      let metadata = try snapshot.accountMetadata(clientID: clientID, of: account.homeAccountID)
      return metadata?.signInState(of: account.homeAccountID) == .signedOut
    } catch {
      log(.info, "An account that may be signed out is not listed.", ["reason": "\(error.code.rawValue)"])
      return true
    }
  }

  func ofThisClient(_ filter: AccountFilter) -> AccountFilter {
    var filter = filter
    filter.clientID = filter.clientID ?? configuration.clientID
    return filter
  }

  /// Returns the broker, if it serves an authority. No broker binds a token to a key of the group.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` if a broker is required.
  func broker(
    for authority: Authority, binding isBound: Bool = false
  ) throws(IdentityError) -> (any TokenBroker)? {
    guard mayAskBroker else { return nil }
    if let broker, broker.serves(authority), !isBound { return broker }
    guard configuration.brokerPolicy == .required else { return nil }
    throw IdentityError(
      .noBroker,
      broker == nil ? "This client has no broker." : "The broker has no such tokens of \(authority).",
      advice: "Turn the broker off, or use an authority that it serves, without a scheme.")
  }

  /// Reads the cache. Where the broker is required, it has the tokens, and an unavailable cache counts as empty.
  func readingCache<T>(
    _ call: @autoclosure () async throws(CacheError) -> T?
  ) async throws(IdentityError) -> T? {
    do {
      return try await call()
    } catch {
      guard configuration.brokerPolicy == .required, error.code != .cancelled else {
        throw IdentityError(cache: error)
      }
      log(.info, "The cache cannot be read; the broker does without.", ["reason": "\(error.code.rawValue)"])
      return nil
    }
  }

  /// Whether an account may be of the configured cloud, as far as both hosts are known. Tokens of one cloud are useless
  /// in another.
  private func isOfSameCloud(_ account: Account) -> Bool {
    let (clouds, host) = (cache.clouds, configuration.authority.host)
    return !clouds.contains(account.environment) || !clouds.contains(host)
      || clouds.canonical(account.environment) == clouds.canonical(host)
  }
}

/// The accounts of the cache and of the broker.
package struct DeviceAccounts: Sendable {
  package var accounts: [Account]
  /// Why the broker's accounts are missing; `nil` also if there is no broker.
  package var brokerFailure: IdentityError?

  package init(accounts: [Account], brokerFailure: IdentityError? = nil) {
    self.accounts = accounts
    self.brokerFailure = brokerFailure
  }
}

extension [Account] {
  /// Returns these accounts, completed from another list, and then the other accounts of that list, each once.
  package func merging(_ others: [Account]) -> [Account] {
    let theirs = Dictionary(others.map { ($0.homeAccountID.normalized, $0) }) { first, _ in first }
    var listed = Set(map(\.homeAccountID.normalized))
    let known = map { own in
      guard let other = theirs[own.homeAccountID.normalized] else { return own }
      let tenants = Set(own.tenantProfiles.map(\.tenantID.normalized))
      let more = other.tenantProfiles.filter { !tenants.contains($0.tenantID.normalized) }
      return Account(
        homeAccountID: own.homeAccountID, username: own.username ?? other.username,
        environment: own.environment, tenantProfiles: own.tenantProfiles + more,
        source: other.source ?? own.source)
    }
    return known + others.filter { listed.insert($0.homeAccountID.normalized).inserted }
  }
}
