import Configuration
import EtcdStore
import FoundationEssentials
import HTTPSupport
public import IdentityClient
import Localization
import SecretService
import SoupTransport
import Synchronization
public import TokenCache

/// What the window does, all of it through Llavero's libraries and none of it on the thread that calls.
public final class Keychain: Sendable {
  /// The group to show first.
  public let group: KeychainGroup
  /// An authority that the person trusts although no cloud is known to have it.
  public let authority: Authority?
  /// Which store it is, such as "Encrypted files in /srv/cache"; empty where the settings name none.
  public let storeName: String
  /// Whether it is the keyring.
  public let isKeyring: Bool
  /// The version of the libraries.
  public let version = ClientConfiguration.libraryVersion
  /// Where the files of other programs are, and which proxy to use.
  let environment: [String: String]
  let store: any CacheStore

  /// Why there is no store. The window then only reports it.
  private let obstacle: Trouble?
  /// The same store where the keyring may prompt, for what the person does: KeePassXC prompts for every change.
  private let prompting: any CacheStore
  private let dialog: PassphraseDialog
  /// The names of the accounts by ID, also of those that cannot be read any more.
  private let names = Mutex<[KeychainGroup: [String: String]]>([:])
  let settings: Settings
  /// What ``prepare(first:)`` began to read.
  let firstPage = Mutex<Task<GroupListing?, Never>?>(nil)
  private let transport = Mutex<SoupHTTPTransport?>(nil)
  /// What servers refused to renew.
  let refusals = Mutex<[TokenPlace: Refusal]>([:])
  /// The end of all renewals that were cancelled.
  let renewals = Mutex<Task<Void, Never>?>(nil)

  /// Reads the configuration and the tool's variables. Nothing is opened yet.
  ///
  /// - Parameters:
  ///   - environment: The process's environment.
  ///   - group: The group to show where the settings name none.
  ///   - ask: Asks for a passphrase, when the person unlocks the store, until it is right.
  public convenience init(
    environment: [String: String], group: KeychainGroup? = nil, asking ask: @escaping PassphraseQuestion
  ) {
    self.init(environment: environment, group: group, store: nil, asking: ask)
  }

  /// The same, in a store other than that of the settings, which only tests need; `promptingStore` is the same store where
  /// the keyring may prompt.
  package init(
    environment: [String: String], group: KeychainGroup? = nil, store given: (any CacheStore)?,
    promptingStore: (any CacheStore)? = nil,
    asking ask: @escaping PassphraseQuestion = { _, _ in nil }
  ) {
    let dialog = PassphraseDialog(ask)
    var (settings, authority, name, isKeyring) = (Settings(), Authority?.none, "", false)
    var (store, prompting): (any CacheStore, any CacheStore) = (InMemoryStore(), InMemoryStore())
    var obstacle: Trouble?
    do {
      settings = try Settings(environment: environment)
      if let unknown = settings.unknown { throw unknown }
      authority = try settings.namedAuthority
      let (caBundle, proxy) = (settings.caBundle, settings.proxy)
      var access = StoreAccess { (question) throws(CacheError) in
        try dialog.answer(question)
      } transport: { (certificates) throws(HTTPTransportError) in
        try SoupHTTPTransport(
          caBundle: certificates ?? caBundle, proxy: proxy, environment: environment,
          allowsLoopbackHTTP: true, caBundleVariable: "LLAVERO_ETCD_CA")
      }
      access.shareConnection()
      store = try given ?? settings.store.store(access)
      access.prompt = .allowed()
      prompting =
        try promptingStore ?? given ?? (settings.store.usesKeyring ? settings.store.store(access) : store)
      (name, isKeyring) = (printable(settings.store.title), settings.store.kind == .keyring)
    } catch {
      obstacle = Trouble(opening: error)
    }
    (self.environment, self.group) = (environment, settings.group ?? group ?? .default)
    self.settings = settings
    (self.authority, storeName, self.isKeyring, self.obstacle) = (authority, name, isKeyring, obstacle)
    (self.store, self.prompting, self.dialog) = (store, prompting, dialog)
  }

  /// Reads the store anew: another program may have changed it without an announcement. Only what the person does may
  /// prompt.
  func cache(of group: KeychainGroup, mayPrompt: Bool = true) -> TokenCacheAccessor {
    TokenCacheAccessor(store: mayPrompt ? prompting : store, group: group)
  }

  /// The groups of the store, and the one of the settings.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func groups() async throws(Trouble) -> [KeychainGroup] {
    if let obstacle { throw obstacle }
    let found = try await calling { () async throws(CacheError) in try await store.groups() }
    return found.contains(group) ? found : (found + [group]).sorted { $0.name < $1.name }
  }

  /// What a group holds.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func listing(of group: KeychainGroup) async throws(Trouble) -> GroupListing {
    let snapshot = try await snapshot(of: group, mayPrompt: false)
    let known = names.withLock { $0[group] ?? [:] }
    let refusals = refusals.withLock(\.self)
    let listing = GroupListing(of: group, snapshot, known: known, clientNames: settings.clientNames) {
      refusals[TokenPlace(group: group, id: $0)]
    }
    let found = Dictionary(listing.accounts.map { ($0.id, $0.title) }) { first, _ in first }
    names.withLock { $0[group] = known.merging(found) { _, new in new } }
    return listing
  }

  /// A number that differs after every change to the group; `nil` while it is unknown.
  @concurrent public func generation(of group: KeychainGroup) async -> UInt64? {
    if let known = store.generation(of: group) { return known }
    // Before the first read it is unknown, and this reads nothing else.
    let wasRead = (try? await store.read(.some([]), in: group)) != nil
    // What is read after the watch of etcd has begun misses no change.
    if wasRead, let etcd = store as? EtcdCacheStore {
      _ = try? await etcd.watchAge(of: group, timeout: .seconds(1))
    }
    return store.generation(of: group)
  }

  /// Lets the keyring ask for its password, or whether a group may be read, and asks for the store's passphrase. The end
  /// of the task withdraws the question for the passphrase.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func unlock(_ group: KeychainGroup) async throws(Trouble) {
    try await calling { () async throws(CacheError) in
      try await dialog.allow { () async throws(CacheError) in
        // KeePassXC asks for the items of all groups before it lists these.
        _ = try await prompting.groups()
        for store in [prompting, store] { _ = try await store.read(.all, in: group) }
      }
    }
  }

  /// The token itself.
  ///
  /// - Throws: ``Trouble``, also when it no longer exists.
  @concurrent public func secret(of token: TokenEntry, in group: KeychainGroup) async throws(Trouble)
    -> String
  {
    guard let secret = try await snapshot(of: group).credential(of: token).secret else { throw .gone }
    return secret
  }

  /// Removes one token. The server does not revoke it.
  ///
  /// - Throws: ``Trouble``, also when it no longer exists.
  @concurrent public func remove(_ token: TokenEntry, in group: KeychainGroup) async throws(Trouble) {
    let credential = try await snapshot(of: group).credential(of: token)
    let isRemoved = try await calling { () async throws(CacheError) in
      // Its key there may differ.
      try await cache(of: group).remove(credential)
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

  /// Signs an account out of clients: their tokens are removed, and the account stays for others.
  ///
  /// - Throws: ``Trouble``.
  @concurrent public func signOut(
    _ account: AccountEntry, of clientIDs: [String], in group: KeychainGroup
  ) async throws(Trouble) {
    let cache = cache(of: group)
    guard let found = try await snapshot(of: group).account(account.id) else {
      // Tokens without an account record.
      let removed = try await calling { () async throws(CacheError) in
        var count = 0
        for clientID in clientIDs {
          count += try await cache.removeAccount(account.id, clientID: clientID).count
        }
        return count
      }
      guard removed > 0 else { throw .gone }
      return
    }
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
    _ = try await calling { () async throws(CacheError) in
      try await prompting.remove(.damaged, in: group)
    }
  }

  func snapshot(of group: KeychainGroup, mayPrompt: Bool = true) async throws(Trouble) -> CacheSnapshot {
    try await calling { () async throws(CacheError) in
      try await cache(of: group, mayPrompt: mayPrompt).snapshot()
    }
  }

  /// What sends requests. Made once, when it is first needed.
  ///
  /// - Throws: ``Trouble`` when the settings of the network are invalid.
  func network() throws(Trouble) -> SoupHTTPTransport {
    do throws(HTTPTransportError) {
      return try transport.withLock { (transport) throws(HTTPTransportError) in
        if let transport { return transport }
        let made = try SoupHTTPTransport(
          caBundle: settings.caBundle, proxy: settings.proxy, environment: environment)
        transport = made
        return made
      }
    } catch {
      let reason = if case .invalidConfiguration(let reason) = error { reason } else { "\(error)" }
      throw Trouble(localized("The Network Cannot Be Used"), reason)
    }
  }
}

extension CacheSnapshot {
  /// An account, signed in or not.
  func account(_ id: String) -> Account? {
    try? accounts(AccountFilter(signedInOnly: false, homeAccountID: id)).first
  }

  /// The record of a token. Another account's token may have got the key after it was removed.
  ///
  /// - Throws: ``Trouble`` when it no longer exists.
  func credential(of token: TokenEntry) throws(Trouble) -> Credential {
    guard let found = document[token.id.section][token.id.key],
      found.homeAccountID?.lowercased() == token.homeAccountID?.lowercased()
    else { throw .gone }
    return found
  }
}

extension Trouble {
  static let gone = Trouble(
    localized("No Longer There"), localized("Another program has removed it in the meantime."))
}

extension StoreSettings {
  /// Which store it is, as a title.
  fileprivate var title: String {
    switch address ?? .keyring {
    case .keyring: collection.map { localized("Keyring “%s”", $0) } ?? localized("Keyring")
    case .file(let directory):
      directory.map { localized("Encrypted files in %s", $0) } ?? localized("Encrypted files")
    case .etcd(let cluster): "etcd, \(cluster.endpoints.joined(separator: ", ")), \(cluster.prefix)"
    }
  }
}

/// Calls a library, and translates its error.
func calling<T>(_ body: () async throws(CacheError) -> T) async throws(Trouble) -> T {
  do throws(CacheError) {
    return try await body()
  } catch {
    throw Trouble(error)
  }
}
