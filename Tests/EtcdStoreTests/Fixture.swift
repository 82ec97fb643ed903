import EtcdStore
import Sealing
import SecretService
import SoupTransport
import TestSupport

/// A prefix of its own in an etcd that others use, a group in it, and ways to change the values.
struct Fixture: SharedStoreFixture {
  static let abilities: StoreAbilities = [.groups, .shards, .damage, .counter, .limit]
  /// What a passphrase costs in tests: 2 MiB.
  static let scrypt = SealedKeys.Scrypt(logN: 11, r: 8, p: 1)
  static let transport = Result { try SoupHTTPTransport(environment: [:], allowsLoopbackHTTP: true) }

  let node: EtcdNode
  let prefix: String
  let group: KeychainGroup
  let keyFile: String
  private(set) var cache = TokenCacheAccessor(store: InMemoryStore())
  private let checksEveryLookup: Bool
  private let scratch: TemporaryDirectory

  /// - Parameters:
  ///   - node: The etcd (default: the shared one).
  ///   - checksEveryLookup: Whether its stores and workers ask etcd at each lookup, in place of a watch.
  /// - Throws: What keeps the test from running.
  init(_ node: EtcdNode? = nil, checksEveryLookup: Bool = false) throws {
    self.checksEveryLookup = checksEveryLookup
    self.node = try node ?? EtcdNode.shared.get()
    scratch = try TemporaryDirectory()
    prefix = "/test/\(scratch.path.split(separator: "-").last ?? "")"
    group = try KeychainGroup("org.example.shared")
    keyFile = scratch.path + "/key"
    try writePrivate((0..<32).map { UInt8($0) }, to: keyFile)
    cache = accessor(on: try newStore())
  }

  /// Another store, as another process would have it.
  func store(
    at endpoints: [String]? = nil, key: KeySource? = nil, prefix: String? = nil, user: EtcdUser? = nil,
    timeout: Duration = .seconds(600), watching: GroupWatch.Timing? = .standard,
    through transport: (any HTTPTransport)? = nil
  ) throws -> EtcdCacheStore {
    try EtcdCacheStore(
      endpoints: endpoints ?? [node.endpoint], prefix: prefix ?? self.prefix,
      key: key ?? .keyFile(path: keyFile), user: user, transport: transport ?? Self.transport.get(),
      timeout: timeout, watching: watching, environment: [:], scrypt: Self.scrypt,
      // A turn lasts on a busy machine as well.
      turnSeconds: 600)
  }

  /// A store that checks every lookup, some of whose requests are answered differently.
  func checkingStore(
    timeout: Duration = .seconds(120), _ meddle: @escaping MeddlingTransport.Meddle
  ) throws -> EtcdCacheStore {
    try store(timeout: timeout, watching: nil, through: MeddlingTransport(meddle))
  }

  /// A store that does something else with the first request that changes a group.
  func store(firstChange meddle: @escaping MeddlingTransport.Meddle) throws -> EtcdCacheStore {
    try store(through: MeddlingTransport(firstChange: meddle))
  }

  func newStore(timeout: Duration) throws -> any CacheStore {
    try store(timeout: timeout, watching: checksEveryLookup ? nil : .standard)
  }

  func generation(of store: any CacheStore, after previous: UInt64?) async -> UInt64? {
    for _ in 0..<120_000 {
      if let generation = store.generation(of: group), generation != previous { return generation }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return nil
  }

  func damage(_ shard: ShardID) async throws { try await change(name(shard)) { $0[300] ^= 1 } }

  func file(_ name: String, _ contents: String) throws -> String {
    try writePrivate(Array(contents.utf8), to: scratch.path + "/" + name)
    return scratch.path + "/" + name
  }

  /// The number of account 1, as a new store finds it; 0 where it has no number.
  func number() async throws -> Int { try await store().numbers(of: self)[1] ?? 0 }

  func name(_ shard: ShardID) -> String { "\(prefix)/\(group)/\(shard)" }

  var keys: String { prefix + "/keys" }

  // The gateway itself, as an administrator would use it.

  func value(_ key: String) async throws -> [UInt8]? { try await RawGateway(node).value(key) }

  func put(_ value: [UInt8], to key: String) async throws { try await RawGateway(node).put(value, to: key) }

  func change(_ key: String, _ change: (inout [UInt8]) -> Void) async throws {
    var value = try await value(key) ?? []
    change(&value)
    try await put(value, to: key)
  }

  func remove(_ key: String) throws { try node.control("del", key) }

  func names() throws -> [String] {
    try node.control("get", "--prefix", "--keys-only", prefix + "/").split(separator: "\n").map(String.init)
  }

  func worker(_ arguments: [String]) throws -> Worker {
    var environment = [
      "PATH": "/usr/bin:/bin", "CACHE_WORKER_KEY_FILE": keyFile, "CACHE_WORKER_ENDPOINTS": node.endpoint,
      "CACHE_WORKER_PREFIX": prefix,
    ]
    if checksEveryLookup { environment["CACHE_WORKER_CHECKS"] = "1" }
    return try Worker([Worker.program] + arguments, environment: environment)
  }
}

extension KeySource {
  static func passphrase(_ text: String) -> KeySource {
    .passphrase { _ in .init(copying: Array(text.utf8)) }
  }
}
