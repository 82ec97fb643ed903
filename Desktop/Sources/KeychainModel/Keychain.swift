import HTTPSupport
import IdentityClient
import SecretService
import SoupTransport
import Synchronization
public import TokenCache

/// What the window does, all of it through Llavero's libraries and none of it on the thread that calls.
public final class Keychain: Sendable {
  public let settings: KeychainSettings
  let store: any CacheStore
  private let transport = Mutex<SoupHTTPTransport?>(nil)

  public convenience init(settings: KeychainSettings) {
    self.init(settings: settings, store: settings.store())
  }

  /// The same, in a store other than that of the settings, which only tests need.
  package init(settings: KeychainSettings, store: any CacheStore) {
    self.settings = settings
    self.store = store
  }

  /// Reads the store anew: another program may have changed it without a word.
  func cache(of group: KeychainGroup) -> TokenCacheAccessor { TokenCacheAccessor(store: store, group: group) }

  /// The groups that there are, and the one of the settings.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func groups() async throws(Trouble) -> [KeychainGroup] {
    if let trouble = settings.trouble { throw trouble }
    let found = try await calling { () async throws(CacheError) in try await store.groups() }
    return found.contains(settings.group)
      ? found : (found + [settings.group]).sorted { $0.name < $1.name }
  }

  /// What a group holds.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func listing(of group: KeychainGroup) async throws(Trouble) -> GroupListing {
    GroupListing(of: group, try await snapshot(of: group))
  }

  /// A number that differs after every change to the group; `nil` while it is unknown.
  @concurrent public func generation(of group: KeychainGroup) async -> UInt64? { store.generation(of: group) }

  /// Lets the keyring ask for its password.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func unlock() async throws(Trouble) {
    let prompting = settings.store(prompt: .allowed(waitingUpTo: .seconds(120)))
    _ = try await calling { () async throws(CacheError) in
      try await prompting.read(
        .some([ShardID(homeAccountID: nil, group: settings.group)]), in: settings.group)
    }
  }

  /// The token itself.
  ///
  /// - Throws: ``Trouble``, also when it is there no more.
  @concurrent public func secret(of token: TokenEntry, in group: KeychainGroup) async throws(Trouble)
    -> String
  {
    let document = try await snapshot(of: group).document
    guard let secret = document[token.id.section][token.id.key]?.secret else { throw .gone }
    return secret
  }

  /// Removes one token. The server does not revoke it.
  ///
  /// - Throws: ``Trouble``, also when it is there no more.
  @concurrent public func remove(_ token: TokenEntry, in group: KeychainGroup) async throws(Trouble) {
    let shard = ShardID(homeAccountID: token.homeAccountID, group: group)
    let id = token.id
    let isRemoved = try await calling { () async throws(CacheError) in
      try await store.update([shard], in: group) { contents in
        contents[shard][id.section].removeValue(forKey: id.key) != nil
      }
    }
    if !isRemoved { throw .gone }
  }

  /// Removes an account with its tokens of all clients. The server does not revoke them.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func remove(_ account: AccountEntry, in group: KeychainGroup) async throws(Trouble) {
    _ = try await calling { () async throws(CacheError) in
      try await cache(of: group).removeAccount(account.id)
    }
  }

  /// Signs an account out of clients: their tokens go, and the account stays for others.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func signOut(
    _ account: AccountEntry, of clientIDs: [String], in group: KeychainGroup
  ) async throws(Trouble) {
    let cache = cache(of: group)
    guard let found = try await snapshot(of: group).account(account.id) else { throw .gone }
    for clientID in clientIDs {
      let client = PublicClient(configuration: ClientConfiguration(clientID: clientID), cache: cache)
      do throws(IdentityError) {
        try await client.signOut(found)
      } catch {
        throw Trouble(error)
      }
    }
  }

  /// Removes what is damaged in a group, or accepts it where it opens.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func removeDamaged(in group: KeychainGroup) async throws(Trouble) {
    _ = try await calling { () async throws(CacheError) in try await store.remove(.damaged, in: group) }
  }

  func snapshot(of group: KeychainGroup) async throws(Trouble) -> CacheSnapshot {
    try await calling { () async throws(CacheError) in try await cache(of: group).snapshot() }
  }

  /// What sends requests. Made once, when it is first needed.
  ///
  /// - Throws: ``Trouble`` when the settings of the network are invalid.
  func network() throws(Trouble) -> SoupHTTPTransport {
    do throws(HTTPTransportError) {
      return try transport.withLock { (transport) throws(HTTPTransportError) in
        if let transport { return transport }
        let made = try SoupHTTPTransport(caBundle: settings.caBundle, environment: settings.environment)
        transport = made
        return made
      }
    } catch {
      let reason = if case .invalidConfiguration(let reason) = error { reason } else { "\(error)" }
      throw Trouble("The Network Cannot Be Used", reason)
    }
  }
}

extension CacheSnapshot {
  /// An account, signed in or not.
  func account(_ id: String) -> Account? {
    try? accounts(AccountFilter(signedInOnly: false, homeAccountID: id)).first
  }
}

extension Trouble {
  static let gone = Trouble("It Is Gone", "Another program has removed it in the meantime.")
}

/// Calls a library; what it throws is told in the window's words.
func calling<T>(_ body: () async throws(CacheError) -> T) async throws(Trouble) -> T {
  do throws(CacheError) {
    return try await body()
  } catch {
    throw Trouble(error)
  }
}
