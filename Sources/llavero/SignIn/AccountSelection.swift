import GLibSupport
import IdentityBroker
import IdentityClient
import Lending
import TokenCache

extension PublicClient {
  /// Returns the account for a command. Throws an error of code `interactionRequired` if no account is signed in, and
  /// of code `usage` if several are and none is named.
  func account(named name: String?) async throws -> Account {
    let isRequired = configuration.brokerPolicy == .required
    // An id has an @ only at authorities without tenants. For an id only that account's shard is read.
    if let name, !isRequired, !name.contains("@"),
      let account = try await accounts(AccountFilter(homeAccountID: name)).first
    {
      return account
    }
    let snapshot = try await snapshotIfNeeded()
    do {
      if let account = try snapshot?.account(named: name, of: configuration.clientID),
        !isRequired || account.isBrokers
      {
        return account
      }
    } catch {
      // The broker may have accounts that the cache lacks.
      guard isRequired || configuration.brokerPolicy == .automatic && error.isNotSignedIn else { throw error }
    }
    return try await brokersAccount(named: name, in: snapshot)
  }

  /// Returns the accounts of the cache and, unless it is off, of the broker; with a user name or home account id those with
  /// that name alone. It is an error when none was found and a part of the cache is unreadable.
  func accountsEverywhere(named name: String?, in snapshot: CacheSnapshot?) async throws -> DeviceAccounts {
    var found = try await deviceAccounts(in: snapshot)
    found.accounts = found.accounts.named(name)
    if found.accounts.isEmpty, configuration.brokerPolicy != .required { try snapshot?.checkComplete() }
    return found
  }

  /// The contents of the client's group; `nil` where the store is unavailable and the broker does not need it.
  func snapshotIfNeeded() async throws(CacheError) -> CacheSnapshot? {
    if configuration.brokerPolicy == .required { return try? await cache.snapshot() }
    return try await cache.snapshot()
  }

  private func brokersAccount(named name: String?, in snapshot: CacheSnapshot?) async throws -> Account {
    let found = try await accountsEverywhere(named: name, in: snapshot)
    var accounts = found.accounts.filter { $0.source == broker?.name }
    // The same name may be a member of one tenant and a guest in another.
    if name != nil, accounts.count > 1 {
      let tenant = configuration.authority.tenant?.lowercased()
      let named = accounts.filter { $0.tenantProfiles.contains { $0.tenantID == tenant } }
      let atHome = accounts.filter { $0.tenantProfiles.contains(where: \.isHomeTenant) }
      accounts = [named, atHome].first { $0.count == 1 } ?? accounts
    }
    if let name, accounts.isEmpty, broker is LoanBroker {
      throw Failure(
        "not_lent", "The tokens of \(name) are not lent.", code: .usage,
        advice: "\"llavero status\" shows the account whose tokens are.")
    }
    return try accounts.only(named: name, in: snapshot, because: found.brokerFailure)
  }
}

extension CacheSnapshot {
  /// Returns the only account that is signed in to a client, or the only one with a name.
  fileprivate func account(named name: String?, of clientID: String?) throws -> Account {
    let account = try accounts(named: name, of: clientID).only(named: name, in: self)
    // An unreadable part may hold another.
    if name == nil { try checkComplete() }
    return account
  }

  /// Returns the accounts that are signed in to a client, without one all; with a user name or home account id only those with
  /// that name. It is an error when none was found and a part of the cache is unreadable.
  func accounts(named name: String?, of clientID: String?) throws(CacheError) -> [Account] {
    let found = (try? accounts(AccountFilter(clientID: clientID))).map { $0.named(name) } ?? []
    if found.isEmpty { try checkComplete() }
    return found
  }

  /// The home account ids, in lower case, of the records that a name is about; also one that has no account's record.
  func homeAccountIDs(named name: String) -> Set<String> {
    let found = ((try? accounts()) ?? []).named(name)
    return found.isEmpty ? [name.lowercased()] : Set(found.map { $0.homeAccountID.lowercased() })
  }

  /// The home account ids with a refresh token of any client.
  var renewableAccounts: Set<String> {
    Set(document.refreshTokens.values.compactMap { $0.homeAccountID?.lowercased() })
  }
}

extension [Account] {
  /// The accounts with a user name or home account id; all without one.
  func named(_ name: String?) -> [Account] {
    guard let name else { return self }
    let filters = [AccountFilter(homeAccountID: name), AccountFilter(username: name)]
    // Few user names have no @.
    return (name.contains("@") ? filters.reversed() : filters).lazy.map { self.filter($0.matches) }
      .first { !$0.isEmpty } ?? []
  }

  /// Returns the only account; an error for none, or several. The name is what was asked for, if any, the snapshot has the
  /// group's contents, where they are known, and the failure says why the broker lists no accounts.
  func only(
    named name: String?, in snapshot: CacheSnapshot?, because failure: IdentityError? = nil
  ) throws(Failure) -> Account {
    guard let account = first else { throw .notSignedIn(name, in: snapshot, because: failure) }
    guard count == 1 else {
      let shown = 5
      let names = prefix(shown).map { ($0.username.map { "\($0), " } ?? "") + $0.homeAccountID }
      let rest = count > shown ? " and \(count - shown) more, which \"llavero status\" lists" : ""
      throw Failure(
        Failure.ambiguous, "\(count) accounts are signed in.", code: .usage,
        advice: "Choose one with --account NAME: " + names.joined(separator: "; ") + rest + ".")
    }
    return account
  }
}

extension Account {
  /// Whether the broker gives its tokens.
  var isBrokers: Bool { source == LinuxBroker.source }
}

extension Error {
  var isNotSignedIn: Bool { (self as? Failure)?.name == "not_signed_in" }
}

extension Failure {
  static let ambiguous = "ambiguous"

  /// The error that no account, or not the named one, is signed in to the client. The group's contents, if known, may
  /// have accounts of other clients; the failure is why the broker lists none.
  static func notSignedIn(
    _ name: String?, in snapshot: CacheSnapshot?, because failure: IdentityError? = nil
  ) -> Failure {
    // An account without a refresh token was signed out.
    let renewable = snapshot?.renewableAccounts ?? []
    let known = (try? snapshot?.accounts()) ?? []
    let isInGroup = known.named(name).contains { renewable.contains($0.homeAccountID.lowercased()) }
    let message =
      isInGroup
      ? "\(name.map { "\($0) is" } ?? "Accounts are") signed in for other apps of this group, not for this client."
      : name.map { "\($0) is not signed in." } ?? "No account is signed in."
    return Failure(
      "not_signed_in", sentences(message, failure?.asBrokerProblem), code: .interactionRequired,
      advice: failure?.advice, needsSignIn: true)
  }
}

extension IdentityError {
  /// Why the broker lists no accounts, in a sentence that names the broker.
  var asBrokerProblem: String {
    code == .brokerFailed ? message : "The identity broker lists no accounts: \(message)"
  }
}
