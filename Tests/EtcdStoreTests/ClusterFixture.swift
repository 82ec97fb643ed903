import EtcdStore
import Sealing
import SoupTransport
import TestSupport

/// A group of its own in a cluster.
struct ClusterFixture: SharedStoreFixture {
  static let abilities: StoreAbilities = [.groups, .shards, .counter]

  let cluster: EtcdCluster
  let group: KeychainGroup
  private(set) var cache = TokenCacheAccessor(store: InMemoryStore())

  init(_ cluster: EtcdCluster) throws {
    self.cluster = cluster
    group = try KeychainGroup("org.example.g\(UInt64.random(in: 0 ... .max))")
    cache = accessor(on: try store())
  }

  /// A store, as another machine would have it.
  func store(
    at endpoints: [String]? = nil, timeout: Duration = .seconds(120), user: EtcdUser? = nil
  ) throws -> EtcdCacheStore {
    let usual = EtcdUser(name: EtcdCluster.user, password: .keyFile(path: cluster.passwordFile))
    return try EtcdCacheStore(
      endpoints: endpoints ?? cluster.endpoints, prefix: EtcdCluster.prefix,
      key: .keyFile(path: cluster.keyFile), user: user ?? usual,
      transport: SoupHTTPTransport(caBundle: cluster.caBundle, environment: [:]), timeout: timeout,
      environment: [:])
  }

  func newStore(timeout: Duration) throws -> any CacheStore { try store(timeout: timeout) }

  func damage(_ shard: ShardID) {}

  func worker(_ arguments: [String]) throws -> Worker {
    try Worker(
      [Worker.program] + arguments,
      environment: [
        "PATH": "/usr/bin:/bin", "CACHE_WORKER_KEY_FILE": cluster.keyFile,
        "CACHE_WORKER_ENDPOINTS": cluster.endpoints.joined(separator: ","),
        "CACHE_WORKER_PREFIX": EtcdCluster.prefix,
        "CACHE_WORKER_ETCD_USER": EtcdCluster.user, "CACHE_WORKER_ETCD_PASSWORD_FILE": cluster.passwordFile,
        "LLAVERO_CA_BUNDLE": cluster.caBundle,
      ])
  }
}
