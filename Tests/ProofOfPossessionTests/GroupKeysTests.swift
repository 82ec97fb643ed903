import EncryptedFileStore
import Foundation
import KeyringStore
import MSALExtensionsStore
import ProofOfPossession
import Sealing
import SecretService
import TestSupport

@testable import TokenCache

/// The key of a group, in each kind of store.
@Suite(.timeLimit(.minutes(20)))
struct GroupKeysTests {
  /// A store, with access for other processes.
  struct Place: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let environment: [String: String]
    let store: @Sendable () -> any CacheStore
    /// Removed when the test ends.
    private let owner: any Sendable

    static let names = ["keyring", "sealed files"]

    init(_ name: String) throws {
      testDescription = name
      if name == "keyring" {
        let keyring = try PrivateKeyring(isActivatable: true)
        environment = keyring.environment
        store = {
          KeyringCacheStore(
            SecretServiceConnection(busAddress: keyring.busAddress), timeout: .seconds(120),
            environment: keyring.environment)
        }
        owner = keyring
        return
      }
      let directory = try TemporaryDirectory()
      let key = directory.path + "/key"
      try Data((0..<32).map { UInt8($0) }).write(to: URL(filePath: key))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
      let files = [
        "PATH": "/usr/bin:/bin", "HOME": directory.path, "XDG_DATA_HOME": directory.path + "/data",
        "CACHE_WORKER_KEY_FILE": key,
      ]
      environment = files
      store = {
        EncryptedFileCacheStore(key: .keyFile(path: key), timeout: .seconds(120), environment: files)
      }
      owner = directory
    }

    static let group = "org.example.bound"

    /// An accessor as in another process.
    func cache() throws -> TokenCacheAccessor {
      TokenCacheAccessor(store: store(), group: try KeychainGroup(Self.group))
    }
  }

  @Test(arguments: Place.names)
  func `The key is made once and shared by all callers and later processes`(_ name: String)
    async throws
  {
    let place = try Place(name)
    let key = try await GroupKeys().key(for: place.cache()).id
    let keys = GroupKeys()
    #expect(try await keys.key(for: place.cache()).id == key)
    #expect(try await keys.key(for: place.cache()).id == key)
    let worker = try Worker([Worker.program, "serve", Place.group], environment: place.environment)
    #expect(await worker.nextLine() == "ready")
    #expect(await worker.ask("pop-key") == key)
    _ = await worker.finish()
  }

  @Test(.fault("PoP key race"), arguments: Place.names)
  func `Six processes that need a key at once share one`(_ name: String) async throws {
    let place = try Place(name)
    let workers = try (0..<6).map { _ in
      try Worker([Worker.program, "serve", Place.group], environment: place.environment)
    }
    for worker in workers { #expect(await worker.nextLine() == "ready") }
    let answers = Set(try await atOnce(workers) { worker in await worker.ask("pop-key") })
    #expect(answers.count == 1)
    #expect(answers.first?.count == 43)
    for worker in workers { _ = await worker.finish() }
    #expect(try await place.cache().store.read(.all, in: KeychainGroup(Place.group)).problems.isEmpty)
  }

  @Test(.fault("PoP key lost"), arguments: Place.names)
  func `An invalid key is replaced, and all tokens stay`(_ name: String) async throws {
    let place = try Place(name)
    let cache = try place.cache()
    let token = SampleToken("token", account: 0)
    try await cache.save(token)
    let key = try await GroupKeys().key(for: cache).id
    let secret = try #require(try await cache.popKey())
    var bytes = try #require(Data(base64Encoded: secret))
    bytes[bytes.count / 2] ^= 1
    for damaged in [String(secret.dropLast(8)), "no base64", "a2V5", bytes.base64EncodedString()] {
      _ = try await cache.savePopKey(damaged) { _ in false }
      let next = try await GroupKeys().key(for: place.cache()).id
      #expect(next != key && next.count == 43)
      #expect(try await place.cache().popKey() != damaged)
      #expect(try await place.cache().finds(token))
    }
  }

  @Test(.fault("PoP key lost"), arguments: Place.names)
  func `A lost key is replaced, and holders of the old one switch to the new one`(
    _ name: String
  ) async throws {
    let place = try Place(name)
    let (cache, keys) = (try place.cache(), GroupKeys())
    let key = try await keys.key(for: cache).id
    try await place.cache().clear()
    let next = try await keys.key(for: cache).id
    #expect(next != key)
    #expect(try await GroupKeys().key(for: place.cache()).id == next)
  }

  @Test(.fault("PoP shard"))
  func `An unreadable key shard is an error, and nothing is written`() async throws {
    let place = try Place("keyring")
    let cache = try place.cache()
    _ = try await GroupKeys().key(for: cache)
    let client = SecretServiceClient(busAddress: place.environment["DBUS_SESSION_BUS_ADDRESS"])
    let name = ["group": Place.group, "shard": cache.commonShard.rawValue]
    let item = try #require(try await client.search(name).unlocked.first)
    try await client.setSecret(SecretBytes(copying: Array("damaged".utf8)), of: item)
    let error = await expectCacheError(.damaged) { try await GroupKeys().key(for: place.cache()) }
    #expect(error?.remedy == .removal)
    let left = try #require(try await client.secrets(of: [item])[item])
    #expect(unsafe left.withUnsafeBytes { unsafe Array($0) } == Array("damaged".utf8))
  }

  @Test(.fault("PoP foreign")) func `No key is stored in another library's cache`() async throws {
    let keyring = try PrivateKeyring()
    let directory = try TemporaryDirectory()
    let store = MSALExtensionsCacheStore(
      .msalExtensions(location: directory.path + "/cache"), timeout: .seconds(120),
      client: SecretServiceConnection(busAddress: keyring.busAddress))
    let cache = TokenCacheAccessor(store: store)
    try await cache.save(SampleToken("token", account: 0))
    let before = try await store.contents().document
    let error = await expectCacheError(.refused) { try await GroupKeys().key(for: cache) }
    #expect(error?.advice?.contains("keyring or sealed files") == true)
    #expect(try await store.contents().document == before)
  }

  @Test func `Changing the store's key keeps the signing key`() async throws {
    let place = try Place("sealed files")
    let key = try await GroupKeys().key(for: place.cache()).id
    let store = try #require(place.store() as? EncryptedFileCacheStore)
    #expect(try await store.rekey().resealed > 0)
    #expect(try await GroupKeys().key(for: place.cache()).id == key)
  }

  @Test func `Each group has its own key`() async throws {
    let (store, keys) = (InMemoryStore(), GroupKeys())
    let one = try await keys.key(
      for: TokenCacheAccessor(store: store, group: KeychainGroup("org.example.one")))
    let two = try await keys.key(
      for: TokenCacheAccessor(store: store, group: KeychainGroup("org.example.two")))
    #expect(one.id != two.id)
  }
}
