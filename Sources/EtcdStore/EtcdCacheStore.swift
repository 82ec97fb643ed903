import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import Sealing
import StoreSupport
import Synchronization
public import TokenCache

/// Keychain groups in etcd, for machines that share them.
///
/// Each shard of a group is one value, sealed as the file store's are, so that etcd never sees a token. `CacheFormat.md`
/// specifies the names. An update is one transaction that says which versions it read: it is carried out as a whole, once,
/// and only if no other writer was faster. No lock decides anything.
///
/// For example:
///
/// ```swift
/// let store = try EtcdCacheStore(
///   endpoints: [
///     "https://etcd-1.example.com:2379",
///     "https://etcd-2.example.com:2379",
///   ], prefix: "/llavero",
///   key: .credential(name: "cache-key"),
///   user: EtcdUser(
///     name: "llavero", password: .credential(name: "etcd-password")),
///   transport: try SoupHTTPTransport(
///     environment: ProcessInfo.processInfo.environment))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class EtcdCacheStore: SealedStore, ForwardingStore {
  let access: EtcdAccess
  let store: GroupStore<EtcdBackend>

  /// Nothing is sent before the store is used. The first write makes its keys.
  ///
  /// - Parameters:
  ///   - endpoints: The addresses of the cluster's members: https, or http on this machine's loopback. The one that
  ///     responded last is asked first, and another where it does not respond.
  ///   - prefix: What the names of the store's values begin with. Stores with different prefixes share nothing.
  ///   - key: Where the key comes from, or is to come from: the same on every machine.
  ///   - user: The store's etcd user, where etcd requires one.
  ///   - transport: What sends the requests, and trusts the cluster's certificates. One that cannot
  ///     ``HTTPTransport/stream(_:_:)`` makes every lookup read.
  ///   - timeout: How long a call may take, waiting for a person aside; ten minutes at most.
  ///   - checksEveryLookup: Whether every lookup asks etcd. Otherwise memory is used, after some lookups, as long as etcd
  ///     announces no change, which it does within milliseconds; for ten seconds while it cannot be reached.
  /// - Throws: ``CacheError`` for an invalid endpoint or prefix.
  public convenience init(
    endpoints: [String], prefix: String, key: KeySource, user: EtcdUser? = nil, transport: any HTTPTransport,
    timeout: Duration = .seconds(25), checksEveryLookup: Bool = false
  ) throws(CacheError) {
    try self.init(
      endpoints: endpoints, prefix: prefix, key: key, user: user, transport: transport, timeout: timeout,
      watching: checksEveryLookup ? nil : .standard, environment: processEnvironment())
  }

  /// Tests alone need another environment, another bus, passphrases that are cheaper to try and other times.
  package init(
    endpoints: [String], prefix: String, key: KeySource, user: EtcdUser? = nil, transport: any HTTPTransport,
    timeout: Duration = .seconds(25), watching: GroupWatch.Timing? = .standard, environment: [String: String],
    busAddress: String? = nil, scrypt: SealedKeys.Scrypt = .standard, turnSeconds: Int64 = 30
  ) throws(CacheError) {
    let names = try EtcdNames(prefix: prefix)
    let addresses = try endpoints.map(EtcdEndpoint.init(_:))
    guard !addresses.isEmpty else {
      throw CacheError(
        .unavailable, "The store in etcd has no endpoint.",
        advice: "Name the addresses of the cluster's members.")
    }
    let session = user.map { EtcdSession($0, environment: environment, busAddress: busAddress) }
    let client = EtcdClient(addresses, session, transport)
    let keys = StoreKeys(
      key, environment: environment, busAddress: busAddress, scrypt: scrypt, timeout: timeout)
    let access = EtcdAccess(
      client, names, keys, watching, timeout: min(timeout, .seconds(600)), turnSeconds: turnSeconds)
    self.access = access
    store = GroupStore(
      GroupWriters(label: "llavero.etcd.writes"), label: "llavero.etcd.reads",
      StorePolicy(
        timeout: access.timeout + EtcdBackend.margin, onCancel: EtcdBackend.cancelled,
        onTimeout: EtcdBackend.timedOut, unlocks: 8, concurrentReads: 16)
    ) { (call) throws(CacheError) in
      try client.checkPassword()
      return EtcdBackend(access, call.cancellable)
    } unlock: { (failure) throws(CacheError) in
      guard case .unseal(let makingStore) = failure.disposition else {
        return try await client.askForPassword()
      }
      try await keys.unsealing { (cancellable) throws(CacheError) in
        try EtcdBackend(access, cancellable).unseal(makingStore: makingStore)
      }
    }
  }

  package var base: any CacheStore { store }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    if case .some(let shards) = shards, let unchanged = try await access.unchanged(shards, of: group) {
      return unchanged
    }
    return try await store.read(shards, in: group)
  }

  public func generation(of group: KeychainGroup) -> UInt64? { access.known(group).watch?.generation }

  @discardableResult
  package func open(makingStore: Bool) async throws(CacheError) -> Bool {
    try await store.reading { (backend) throws(CacheError) in try backend.open(makingStore: makingStore) }
  }

  /// Gives the store a new key, or the same in a new place, and seals every value of every group again.
  ///
  /// It may be interrupted at any moment: from then on the new key opens the store. The next call finishes the work.
  ///
  /// - Parameter source: Where the key is to come from; from where it comes now unless another is named. A
  ///   passphrase is asked for again; a key in the keyring is made anew.
  /// - Returns: How many values were sealed again and how many could not be.
  /// - Throws: ``CacheError`` when the store cannot be opened or written, and when another program changes the keys.
  public func rekey(to source: KeySource? = nil) async throws(CacheError) -> RekeySummary {
    try await access.client.askForPassword()
    return try await access.keys.changing(of: self, to: source) {
      [access] (cancellable, pending) throws(CacheError) in
      try EtcdBackend(access, cancellable).change(to: source, pending)
    }
  }

  /// Checks endpoints and prefix without making a store of them.
  ///
  /// - Throws: ``CacheError`` as the initializer does.
  package static func check(endpoints: [String], prefix: String) throws(CacheError) {
    _ = try EtcdNames(prefix: prefix)
    for endpoint in endpoints { _ = try EtcdEndpoint(endpoint) }
  }

  /// Removes what announces a group's changes and stays when everything else is removed, for a group that no other program
  /// knows.
  ///
  /// - Throws: ``CacheError`` when etcd is out of reach.
  package func forget(_ group: KeychainGroup) async throws(CacheError) {
    try await store.reading { (backend) throws(CacheError) in
      _ = try backend.transaction([.delete(backend.names.stamp(of: group))])
    }
  }
}

/// What the calls of a store share.
final class EtcdAccess: Sendable {
  let client: EtcdClient
  let names: EtcdNames
  let keys: StoreKeys
  let timeout: Duration
  /// For how long a machine that dies keeps the others from renewing.
  let turnSeconds: Int64
  private let watching: GroupWatch.Timing?
  /// A list, since programs work on one group or two.
  private let groups = Mutex<[EtcdGroup]>([])

  init(
    _ client: EtcdClient, _ names: EtcdNames, _ keys: StoreKeys, _ watching: GroupWatch.Timing?,
    timeout: Duration, turnSeconds: Int64
  ) {
    self.client = client
    self.names = names
    self.keys = keys
    self.watching = watching
    self.timeout = timeout
    self.turnSeconds = turnSeconds
  }

  deinit { for group in groups.withLock({ $0 }) { group.watch?.end() } }

  /// Shards that are all in memory, where one small request says that they have not changed.
  func unchanged(_ shards: [ShardID], of group: KeychainGroup) async throws(CacheError) -> GroupContents? {
    let known = known(group)
    let kept = known.kept(shards)
    guard let keys = known.base?.keys, !kept.isEmpty, shards.allSatisfy({ kept[$0] != nil }),
      (try? client.checkPassword()) != nil
    else {
      return nil
    }
    let conditions = kept.map {
      EtcdCondition(key: names.shard($0, of: group), modRevision: $1.modRevision)
    }
    // etcd takes a transaction without a get for one that any member may answer, also one that is cut off.
    // No longer than a call may take, also if the transport ignores that it is cancelled. The caller may hold a thread of the
    // cooperative pool, as MSAL's methods that are not async do.
    let call = BoundedCall<EtcdOutcome, CacheError>(
      timeout: timeout + EtcdBackend.margin, onCancel: EtcdBackend.cancelled, onTimeout: EtcdBackend.timedOut)
    let request = Task(executorPreference: QueueExecutor()) { [client, names, timeout] in
      do throws(EtcdFailure) {
        call.finish(
          .success(try await client.transaction(if: conditions, [.look(names.keys)], until: .now + timeout)))
      } catch {
        call.finish(.failure(error.cacheError))
      }
    }
    let outcome = try await call.run(abandon: { request.cancel() }) { _ in }
    guard outcome.succeeded, outcome.values[0]?.modRevision == keys.modRevision else { return nil }
    return GroupContents(documents: kept.mapValues(\.document))
  }

  func known(_ group: KeychainGroup) -> EtcdGroup {
    groups.withLock { groups in
      if let known = groups.first(where: { $0.group == group }) { return known }
      let watch = watching.map { GroupWatch(names.stamp(of: group), client, $0) }
      let known = EtcdGroup(group, writer: names.writer(hex(randomBytes(16))), watch: watch)
      groups.append(known)
      return known
    }
  }
}
