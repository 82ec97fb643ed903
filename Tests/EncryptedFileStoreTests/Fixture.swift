import EncryptedFileStore
import Sealing
import SecretService
import TestSupport

/// A file store in a directory of its own, a group in it, and ways to change the files.
final class Fixture: SharedStoreFixture {
  static let abilities: StoreAbilities = [.groups, .shards, .damage, .counter, .limit, .waiting]
  /// The cost of a passphrase in tests: 2 MiB.
  static let scrypt = SealedKeys.Scrypt(logN: 11, r: 8, p: 1)

  private let scratch: TemporaryDirectory
  let environment: [String: String]
  let group: KeychainGroup
  let store: EncryptedFileCacheStore
  let cache: TokenCacheAccessor

  init(in parent: String = "/tmp") throws {
    scratch = try TemporaryDirectory(in: parent)
    let directory = scratch.path
    environment = [
      "PATH": "/usr/bin:/bin", "HOME": directory, "XDG_DATA_HOME": directory + "/data",
      "CACHE_WORKER_KEY_FILE": directory + "/key",
    ]
    group = try KeychainGroup("org.example.shared")
    try writePrivate((0..<32).map { UInt8($0) }, to: directory + "/key")
    store = EncryptedFileCacheStore(
      key: .keyFile(path: directory + "/key"), timeout: .seconds(120), environment: environment,
      scrypt: Self.scrypt)
    cache = TokenCacheAccessor(store: store, group: group)
  }

  /// Makes a store whose group has these tokens.
  convenience init(saving token: SampleToken, _ others: SampleToken...) async throws {
    try self.init()
    for token in [token] + others { try await cache.save(token) }
  }

  var directory: String { scratch.path }

  /// Another store, as another process would have it.
  func otherStore(
    key: KeySource? = nil, timeout: Duration = .seconds(120), environment: [String: String] = [:],
    busAddress: String? = nil
  ) -> EncryptedFileCacheStore {
    EncryptedFileCacheStore(
      key: key ?? .keyFile(path: directory + "/key"), timeout: timeout,
      environment: self.environment.merging(environment) { $1 }, busAddress: busAddress,
      scrypt: Self.scrypt)
  }

  func newStore(timeout: Duration) -> any CacheStore { otherStore(timeout: timeout) }

  func damage(_ shard: ShardID) throws { try change(path(shard)) { $0[300] ^= 1 } }

  /// Another accessor on another store.
  func otherCache(key: KeySource? = nil) -> TokenCacheAccessor { accessor(on: otherStore(key: key)) }

  /// The problems of the whole group.
  func problems(_ cache: TokenCacheAccessor) async throws -> [StoreProblem] {
    try await cache.store.read(.all, in: group).problems
  }

  var root: String { directory + "/data/llavero/sealed" }
  var groupPath: String { "\(root)/groups/\(group)" }
  var manifest: String { groupPath + "/manifest.sealed" }
  var keys: String { root + "/keys" }

  /// The number of the group's last write, which is one more with each.
  var manifestSequence: UInt64 {
    get throws { try bytes(manifest).bigEndian(at: 64) }
  }

  func path(_ shard: ShardID) -> String { "\(groupPath)/\(shard).sealed" }

  func path(_ token: SampleToken) -> String { path(shard(token)) }

  func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

  /// The bytes of a file; `nil` if it cannot be read.
  func contents(_ path: String) -> [UInt8]? { try? bytes(path) }

  func write(_ bytes: [UInt8], to path: String) throws { try writePrivate(bytes, to: path) }

  func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

  func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Changes a file in place of the store.
  func change(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
    var bytes = try bytes(path)
    change(&bytes)
    try write(bytes, to: path)
  }

  func worker(_ arguments: [String]) throws -> Worker {
    try Worker([Worker.program] + arguments, environment: environment)
  }
}

/// Two accounts, of which the first was saved twice, and the file of the first save.
struct TwiceSaved {
  let fixture: Fixture
  let older: [UInt8]

  init(_ first: SampleToken, _ second: SampleToken) async throws {
    fixture = try await Fixture(saving: SampleToken("before", account: first.account))
    older = try fixture.bytes(fixture.path(first))
    for token in [first, second] { try await fixture.cache.save(token) }
  }
}

extension KeySource {
  static func passphrase(_ text: String) -> KeySource {
    .passphrase { _ in .init(copying: Array(text.utf8)) }
  }
}
