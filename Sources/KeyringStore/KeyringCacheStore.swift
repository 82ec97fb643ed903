import GLibSupport
public import SecretService
import StoreSupport
public import TokenCache

/// Keychain groups in the Secret Service keyring: gnome-keyring, KWallet, KeePassXC and others.
///
/// Each shard of a group is one item, as `CacheFormat.md` lays down. Writers of one group take turns, across
/// processes; a lock file announces changes to the others. The store never falls back to another place when the keyring is
/// out of reach.
///
/// For example:
///
/// ```swift
/// let store = KeyringCacheStore(prompt: .allowed())
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class KeyringCacheStore: ForwardingStore {
  private let store: GroupStore<Keyring>
  private let writers: GroupWriters

  /// - Parameters:
  ///   - collection: The label or name of the collection; the default one unless another is named.
  ///   - prompt: Whether the keyring may ask the person to unlock it. KeePassXC needs the permission to
  ///     make and to delete items, also where it shows nothing.
  ///   - timeout: How long a call may take. Prompts that unlock do not count; those that KeePassXC shows for a change do.
  ///   - allowsPlainSession: Whether tokens may go over the bus as plaintext where the keyring refuses to encrypt them.
  public convenience init(
    collection: String? = nil, prompt: PromptPermission = .denied, timeout: Duration = .seconds(25),
    allowsPlainSession: Bool = false
  ) {
    self.init(
      SecretServiceConnection(allowsPlainSession: allowsPlainSession), collection: collection,
      prompt: prompt, timeout: timeout)
  }

  /// Uses a connection that may already be open. Tests alone need another runtime directory.
  package init(
    _ connection: SecretServiceConnection, collection: String? = nil, prompt: PromptPermission = .denied,
    timeout: Duration = .seconds(25), environment: [String: String] = processEnvironment()
  ) {
    let directory = RuntimeDirectory(environment: environment)
    writers = GroupWriters(
      label: "llavero.keyring.writes", variable: "XDG_RUNTIME_DIR", isShared: directory.isShared
    ) { (directory.path, String(sha256Hex($0.name).prefix(32)) + ".lock") }
    let access = KeyringAccess(connection, collection: collection, prompt: prompt, timeout: timeout)
    store = GroupStore(
      writers, label: "llavero.keyring.reads", access.policy(retries: 1),
      backend: { Keyring(access, $0.cancellable) }, unlock: access.unlock)
  }

  package var base: any CacheStore { store }

  /// The items that were removed and are back, which no other call finds but ``remove(_:in:)``: KWallet ended before it wrote
  /// the removal.
  package func returnedItems() async throws(CacheError) -> [KeychainGroup: [StoreProblem]] {
    let detail = "A removed item is back without its attributes: KWallet ended before it wrote the removal."
    let found = try await store.reading { (keyring) throws(CacheError) in
      try keyring.access.calling(keyring.returnedItems()).map(\.group)
    }
    return Dictionary(grouping: found) { $0 }
      .mapValues { $0.map { _ in StoreProblem(.returned, shard: nil, detail: detail) } }
  }

  /// Whether a change that has returned is not on the disk yet.
  package func writesLater() async throws(CacheError) -> Bool {
    try await store.reading { (keyring) throws(CacheError) in
      try keyring.access.calling(keyring.writesLater())
    }
  }

  /// The name of another collection, if a group was last written there and not in this one.
  package func otherCollection(of group: KeychainGroup) async throws(CacheError) -> String? {
    try await store.reading { (keyring) throws(CacheError) in
      try keyring.access.calling(keyring.otherCollection(of: group))
    }
  }

  /// Not by way of the generic store, whose code is not made for this backend: every lookup comes here.
  public func generation(of group: KeychainGroup) -> UInt64? { writers.generation(of: group) }
}
