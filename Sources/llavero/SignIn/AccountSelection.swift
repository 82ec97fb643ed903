import IdentityBroker
import IdentityClient
import Lending
import TokenCache

extension PublicClient {
  /// The account that a command is about.
  ///
  /// - Throws: `Failure.Message`: of code `interactionRequired` when no account is signed in, and `usage` when
  ///   several are and none is named.
  func account(named name: String?) async throws -> Account {
    let isRequired = configuration.brokerPolicy == .required
    do {
      let account = try await cachedAccount(named: name)
      if !isRequired || account.isBrokers { return account }
    } catch {
      // What the cache lacks the broker may have.
      guard isRequired || configuration.brokerPolicy == .automatic && error.isNotSignedIn else { throw error }
    }
    return try await brokersAccount(named: name)
  }

  /// The accounts of the cache and of the broker, as far as that is asked, or those of them that go by a name.
  ///
  /// - Parameters:
  ///   - name: A user name or home account id.
  ///   - snapshot: What the group holds; `nil` where that is out of reach, and the broker does without.
  /// - Returns: The accounts.
  /// - Throws: Also when no account was found and something cannot be read.
  func accountsEverywhere(named name: String?, in snapshot: CacheSnapshot?) async throws -> DeviceAccounts {
    var found = try await deviceAccounts(in: snapshot)
    found.accounts = found.accounts.named(name)
    if found.accounts.isEmpty, configuration.brokerPolicy != .required { try snapshot?.checkComplete() }
    return found
  }

  /// What the client's group holds, `nil` where that is out of reach and the broker does without.
  func snapshotIfNeeded() async throws(CacheError) -> CacheSnapshot? {
    do throws(CacheError) {
      return try await cache.snapshot()
    } catch {
      guard configuration.brokerPolicy == .required else { throw error }
      return nil
    }
  }

  /// The account that a command is about, out of those of the broker.
  private func brokersAccount(named name: String?) async throws -> Account {
    let snapshot = try await snapshotIfNeeded()
    let found = try await accountsEverywhere(named: name, in: snapshot)
    var accounts = found.accounts.filter { $0.source == broker?.name }
    // One name may stand for an account here and for a guest elsewhere.
    if name != nil, accounts.count > 1 {
      let tenant = configuration.authority.tenant?.lowercased()
      let named = accounts.filter { $0.tenantProfiles.contains { $0.tenantID == tenant } }
      let atHome = accounts.filter { $0.tenantProfiles.contains(where: \.isHomeTenant) }
      accounts = [named, atHome].first { $0.count == 1 } ?? accounts
    }
    if let name, accounts.isEmpty, broker is LoanBroker { throw Failure.Message.notLent(name) }
    return try accounts.only(named: name, in: snapshot, because: found.brokerFailure)
  }

  /// The account that a command is about, out of those of the cache.
  private func cachedAccount(named name: String?) async throws -> Account {
    // Ids have an @ only at authorities without tenants. One needs a look at that account alone.
    if let name, !name.contains("@"),
      let account = try await accounts(AccountFilter(homeAccountID: name)).first
    {
      return account
    }
    return try await cache.snapshot().account(named: name, of: configuration.clientID)
  }
}

extension CacheSnapshot {
  /// The accounts that are signed in to a client, or those of them that go by a user name or home account id.
  ///
  /// - Throws: `CacheError` when no account was found and something cannot be read.
  func accounts(named name: String?, of clientID: String) throws(CacheError) -> [Account] {
    guard let name else { return try accounts(AccountFilter(clientID: clientID)) }
    for var filter in AccountFilter.filters(named: name) {
      filter.clientID = clientID
      if let found = try? accounts(filter), !found.isEmpty { return found }
    }
    try checkComplete()
    return []
  }

  /// The home account ids with a refresh token, of whatever client.
  var renewableAccounts: Set<String> {
    Set(document.refreshTokens.values.compactMap { $0.homeAccountID?.lowercased() })
  }

  /// The one account that goes by a name or, without one, is signed in to a client.
  ///
  /// - Throws: `Failure.Message`: of code `interactionRequired` when no account is signed in, and `usage` when
  ///   several are and none is named. `CacheError` also when none is named and something cannot be read, which may be
  ///   another.
  fileprivate func account(named name: String?, of clientID: String) throws -> Account {
    let account = try accounts(named: name, of: clientID).only(named: name, in: self)
    if name == nil { try checkComplete() }
    return account
  }
}

extension [Account] {
  /// Those that go by a name, or all without one.
  fileprivate func named(_ name: String?) -> [Account] {
    AccountFilter.filters(named: name).lazy.map { filter in self.filter(filter.matches) }
      .first { !$0.isEmpty } ?? []
  }

  /// The only account of these.
  ///
  /// - Parameters:
  ///   - name: The name that they go by, if one was given.
  ///   - snapshot: What the group holds, where it is known.
  ///   - failure: Why there may be others.
  /// - Returns: The account.
  /// - Throws: `Failure.Message` for no account, or several.
  func only(
    named name: String?, in snapshot: CacheSnapshot?, because failure: IdentityError? = nil
  ) throws(Failure.Message) -> Account {
    guard let account = first else { throw .notSignedIn(name, in: snapshot, because: failure) }
    guard count == 1 else {
      let shown = 5
      let names = prefix(shown).map { ($0.username.map { "\($0), " } ?? "") + $0.homeAccountID }
      let rest = count > shown ? " and \(count - shown) more, which \"llavero status\" lists" : ""
      throw Failure.Message(
        code: .usage, name: "ambiguous", message: "\(count) accounts are signed in.",
        advice: "Choose one with --account: " + names.joined(separator: "; ") + rest + ".")
    }
    return account
  }
}

extension Account {
  /// Whether the broker gives its tokens.
  var isBrokers: Bool { source == LinuxBroker.source }
}

extension AccountFilter {
  /// The filters for a name that may be one of a user or a home account id, the likely one first.
  fileprivate static func filters(named name: String?) -> [AccountFilter] {
    guard let name else { return [AccountFilter()] }
    let filters = [AccountFilter(homeAccountID: name), AccountFilter(username: name)]
    // Few user names have no @.
    return name.contains("@") ? filters.reversed() : filters
  }
}

extension Error {
  var isNotSignedIn: Bool { (self as? Failure.Message)?.name == "not_signed_in" }
}

extension Failure.Message {
  fileprivate static func notLent(_ name: String) -> Failure.Message {
    Failure.Message(
      code: .usage, name: "not_lent", message: "The tokens of \(name) are not lent.",
      advice: "\"llavero status\" says whose are.")
  }

  /// No account is signed in to the client, or not the one that is named.
  ///
  /// - Parameters:
  ///   - name: The name, if one was given.
  ///   - snapshot: What the group holds, where it is known: accounts of other clients, perhaps.
  ///   - failure: Why the broker, which may know them, could not be asked.
  /// - Returns: The message.
  static func notSignedIn(
    _ name: String?, in snapshot: CacheSnapshot?, because failure: IdentityError? = nil
  ) -> Failure.Message {
    // An account without a refresh token was signed out.
    let renewable = snapshot?.renewableAccounts ?? []
    let isInGroup = AccountFilter.filters(named: name).contains { filter in
      let accounts = (try? snapshot?.accounts(filter)) ?? []
      return accounts.contains { renewable.contains($0.homeAccountID.lowercased()) }
    }
    let message =
      isInGroup
      ? "\(name.map { "\($0) is" } ?? "Accounts are") signed in for other apps of this group, not for this client."
      : name.map { "\($0) is not signed in." } ?? "Nobody is signed in."
    return Failure.Message(
      code: .interactionRequired, name: "not_signed_in",
      message: sentences(message, failure?.asBrokerProblem), advice: failure?.advice, needsSignIn: true)
  }
}

extension IdentityError {
  /// Why the broker lists no accounts, in a sentence that names it.
  var asBrokerProblem: String {
    code == .brokerFailed ? message : "The identity broker lists no accounts: \(message)"
  }
}
