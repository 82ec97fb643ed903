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
/// lays down the names. An update is one transaction that says which versions it read: it is carried out as a whole, once,
/// and only if nobody wrote meanwhile. No lock decides anything.
///
/// For example:
///
/// ```swift
/// let store = try EtcdCacheStore(
///   endpoints: ["https://etcd-1.example.com:2379", "https://etcd-2.example.com:2379"], prefix: "/llavero",
///   key: .credential(name: "cache-key"),
///   user: EtcdUser(name: "llavero", password: .credential(name: "etcd-password")),
///   transport: try SoupHTTPTransport(environment: ProcessInfo.processInfo.environment))
/// let cache = TokenCacheAccessor(store: store)
/// ```
public final class EtcdCacheStore: SealedStore {
  let client: EtcdClient
  let names: EtcdNames
  let keys: StoreKeys
  let timeout: Duration
  private let watching: GroupWatch.Timing?
  /// Opening, changing and sealing take time that the tasks of others must not wait for.
  private let queue = BlockingQueue(label: "llavero.etcd.work")
  /// A list, since programs work on one group or two.
  private let knownGroups = Mutex<[EtcdGroup]>([])

  /// Nothing is sent before the store is used. The first write makes its keys.
  ///
  /// - Parameters:
  ///   - endpoints: The addresses of the cluster's members: https, or http on this machine's loopback. The one that
  ///     answered last is asked first, and another where it does not answer.
  ///   - prefix: What the names of the store's values begin with. Stores with different prefixes share nothing.
  ///   - key: Where the key comes from, or is to come from: the same on every machine.
  ///   - user: Who the store is to etcd, where that asks for a user.
  ///   - transport: What sends the requests, and trusts the cluster's certificates. One that cannot
  ///     ``HTTPTransport/stream(_:_:)`` makes every lookup read.
  ///   - timeout: How long a call may take, waiting for a person aside; ten minutes at most.
  ///   - checksEveryLookup: Whether every lookup asks etcd. Otherwise memory is believed as long as etcd announces no
  ///     change, which it does within milliseconds; for ten seconds while it cannot be reached.
  /// - Throws: ``CacheError`` when an endpoint or the prefix is none.
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
    busAddress: String? = nil, scrypt: SealedKeys.Scrypt = .standard
  ) throws(CacheError) {
    names = try EtcdNames(prefix: prefix)
    let addresses = try endpoints.map { (text) throws(CacheError) in try EtcdEndpoint(text) }
    guard !addresses.isEmpty else {
      throw CacheError(
        .unavailable, "The store in etcd has no endpoint.",
        advice: "Name the addresses of the cluster's members.")
    }
    client = EtcdClient(
      endpoints: addresses, user: user, transport: transport, environment: environment, busAddress: busAddress
    )
    self.timeout = min(timeout, .seconds(600))
    self.watching = watching
    keys = StoreKeys(key, environment: environment, busAddress: busAddress, scrypt: scrypt, timeout: timeout)
  }

  deinit {
    for group in knownGroups.withLock({ $0 }) { group.watch?.end() }
  }
}

extension EtcdCacheStore {
  public func groups() async throws(CacheError) -> [KeychainGroup] {
    try await client.askForPassword()
    var groups: Set<KeychainGroup> = []
    let deadline = ContinuousClock.now + timeout
    var rest = names.all
    while true {
      let page = try await reading { () async throws(EtcdFailure) in
        try await client.page(of: rest, limit: 200, keysOnly: true, until: deadline)
      }
      for value in page.values {
        guard rest.contains(value.key), case .shard(_, let group) = names.part(value.key) else { continue }
        groups.insert(group)
        // The rest of the group tells nothing new.
        rest.start = names.group(group).end
      }
      guard page.hasMore, let last = page.values.last else { break }
      if rest.contains(last.key) { rest = rest.after(last.key) }
    }
    return groups.sorted { $0.name < $1.name }
  }

  public func read(
    _ shards: ShardSelection, in group: KeychainGroup
  ) async throws(CacheError) -> GroupContents {
    let known = known(group)
    return try await withKeys { () async throws(CacheError) in
      let deadline = ContinuousClock.now + timeout
      let snapshot = try await reading { () async throws(EtcdFailure) in
        try await EtcdSnapshot(shards, of: known, names, client, until: deadline)
      }
      return try await run { [keys, names] () throws(CacheError) in
        try EtcdFindings(snapshot, known, names, keys).contents
      }
    }
  }

  public func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    let ids = shards.enumerated().filter { shards.firstIndex(of: $1) == $0 }.map(\.element)
    let known = known(group)
    return try await writing(in: group) { (update: inout EtcdUpdate<Result>) throws(CacheError) in
      try await update.run(.some(ids)) { (snapshot) throws(CacheError) in
        try await run { [names, keys] () throws(CacheError) in
          try EtcdFindings(snapshot, known, names, keys, isWriting: true).plan(ids, change)
        }
      }
    }
  }

  public func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    removal == .everything ? try await removeEverything(in: group) : try await removeDamaged(in: group)
  }

  public func generation(of group: KeychainGroup) -> UInt64? { known(group).watch?.generation }

  /// Unseals the keys, as every call does that needs them.
  ///
  /// - Parameter makingStore: Whether to make the store where there is none, as the first write would.
  /// - Returns: Whether there is a store.
  /// - Throws: ``CacheError`` when etcd or the key is out of reach, the key does not open the store, or it cannot be made.
  @discardableResult
  package func open(makingStore: Bool = false) async throws(CacheError) -> Bool {
    try await withKeys(makingStore: makingStore) { () async throws(CacheError) in
      guard let value = try await keysValue() else {
        if makingStore { _ = try keys.keys(in: nil) }
        return false
      }
      _ = try keys.keys(in: value.value)
      return true
    }
  }

  /// Gives the store a new key, or the same in a new place, and seals every value of every group again.
  ///
  /// It may be interrupted at any moment: from then on the new key opens the store. The next call finishes the work.
  ///
  /// - Parameter source: Where the key is to come from; from where it comes now unless another is named. A
  ///   passphrase is asked for again; a key in the keyring is made anew.
  /// - Returns: How many values were sealed again and how many could not be.
  /// - Throws: ``CacheError`` when the store cannot be opened or written, and when somebody else changes the keys.
  public func rekey(to source: KeySource? = nil) async throws(CacheError) -> RekeySummary {
    try await withKeys { () async throws(CacheError) in
      guard let value = try await keysValue() else {
        _ = try await isEmpty()
        return RekeySummary()
      }
      _ = try keys.keys(in: value.value)
      return try await keys.changing(to: source) { [self] (cancellable) throws(CacheError) in
        var present = value
        var summary = RekeySummary()
        try keys.change(value.value, to: source, cancellable) { (sealed) throws(CacheError) in
          present = try waiting { [self, present] () async throws(CacheError) in
            try await put(sealed, inPlaceOf: present)
          }
        } resealing: { (keys) throws(CacheError) in
          summary = try waiting { [self, present] () async throws(CacheError) in
            try await reseal(keys, present)
          }
          return summary.left == 0
        }
        return summary
      }
    }
  }

  func known(_ group: KeychainGroup) -> EtcdGroup {
    knownGroups.withLock { groups in
      if let known = groups.first(where: { $0.group == group }) { return known }
      let watch = watching.map { GroupWatch(names.stamp(of: group), client, $0) }
      let known = EtcdGroup(group, writer: names.writer(hex(randomBytes(16))), watch: watch)
      groups.append(known)
      return known
    }
  }

  /// Runs blocking work that asks nobody.
  func run<T: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await queue.run(
      timeout: timeout, onCancel: EtcdFailure.cancelled.cacheError(writing: false),
      onTimeout: CacheError(.timedOut, "This program's other tasks kept the store in etcd busy for too long.")
    ) { _ throws(CacheError) in try work() }
  }

  /// Runs work that writes nothing.
  func reading<T>(
    _ work: () async throws(EtcdFailure) -> T
  ) async throws(CacheError) -> T {
    do {
      return try await work()
    } catch {
      throw error.cacheError(writing: false)
    }
  }

  /// Runs work that writes to a group, after what this process's other tasks do there.
  func writing<T: Sendable>(
    in group: KeychainGroup, makingStore: Bool = true,
    _ work: (inout EtcdUpdate<T>) async throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let known = known(group)
    let start = ContinuousClock.now
    return try await known.turns.run(timeout: timeout) {
      $0
    } work: { () async throws(CacheError) in
      let rest = timeout - (ContinuousClock.now - start)
      return try await withKeys(makingStore: makingStore) { () async throws(CacheError) in
        var update = EtcdUpdate<T>(known, names, client, until: ContinuousClock.now + rest)
        return try await work(&update)
      }
    }
  }
}
