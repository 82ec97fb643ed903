import KeyringStore
import SecretService
import StoreSupport
import TestSupport

/// A keyring of its own, a group in it, and ways to see what is really there.
struct Fixture: SharedStoreFixture {
  static let abilities: StoreAbilities = [.groups, .shards, .damage, .counter, .limit, .waiting]

  let keyring: PrivateKeyring
  private let provider: KeyringProvider
  let group: KeychainGroup
  let store: KeyringCacheStore
  let cache: TokenCacheAccessor
  /// Sees the items as any other program does.
  let client: SecretServiceClient

  init(
    timeout: Duration = .seconds(120), startingDaemon: Bool = true,
    provider: KeyringProvider = .gnomeKeyring
  ) throws {
    self.provider = provider
    keyring = try PrivateKeyring(startingDaemon: startingDaemon, provider: provider)
    group = try KeychainGroup("org.example.shared")
    store = Self.store(keyring, provider, timeout: timeout)
    cache = TokenCacheAccessor(store: store, group: group)
    client = SecretServiceClient(busAddress: keyring.busAddress)
  }

  /// One whose group has these tokens.
  init(
    _ provider: KeyringProvider = .gnomeKeyring, saving token: SampleToken, _ others: SampleToken...
  ) async throws {
    try self.init(provider: provider)
    for token in [token] + others { try await cache.save(token) }
  }

  /// Another store, as another process would have it.
  func otherStore(
    timeout: Duration = .seconds(120), environment: [String: String] = [:]
  ) -> KeyringCacheStore {
    Self.store(keyring, provider, timeout: timeout, environment: environment)
  }

  func newStore(timeout: Duration) -> any CacheStore { otherStore(timeout: timeout) }

  func damage(_ shard: ShardID) async throws {
    try await unlock(attributes(shard))
    let path = try #require(try await items(shard).first).properties.path
    try await client.setSecret(SecretBytes(copying: Array("damaged".utf8)), of: path)
  }

  /// Lets the fixture's own client see items: KWallet has each client ask for the collection, and KeePassXC for the items.
  func unlock(_ attributes: [String: String] = [:]) async throws {
    let collection = try await client.collection().path
    try await client.unlock(collection)
    try await client.perform(.allowed(waitingUpTo: .seconds(600))) {
      (connection, cancellable) throws(SecretServiceError) in
      let items = try connection.search(attributes, in: collection, cancellable).locked
      try connection.unlock(items: items, prompt: true, cancellable)
    }
  }

  /// Another accessor on another store.
  func otherCache() -> TokenCacheAccessor { accessor(on: otherStore()) }

  /// A store that may prompt for some time.
  func promptingStore(for limit: Duration, timeout: Duration = .seconds(120)) -> KeyringCacheStore {
    KeyringCacheStore(
      SecretServiceConnection(busAddress: keyring.busAddress), prompt: .allowed(waitingUpTo: limit),
      timeout: timeout, environment: keyring.environment)
  }

  private static func store(
    _ keyring: PrivateKeyring, _ provider: KeyringProvider, timeout: Duration,
    environment: [String: String] = [:]
  ) -> KeyringCacheStore {
    KeyringCacheStore(
      SecretServiceConnection(busAddress: keyring.busAddress),
      prompt: provider.promptsForWrites ? .allowed(waitingUpTo: .seconds(600)) : .denied, timeout: timeout,
      environment: keyring.environment.merging(environment) { $1 })
  }

  func worker(_ arguments: [String]) throws -> Worker {
    try Worker([Worker.program] + arguments, environment: keyring.environment)
  }

  /// The attributes that the format gives a shard's item.
  static func attributes(_ shard: ShardID, of group: KeychainGroup) -> [String: String] {
    [
      "xdg:schema": "org.llavero.TokenCache", "group": group.name, "shard": shard.rawValue, "version": "1",
    ]
  }

  func attributes(_ shard: ShardID) -> [String: String] { Self.attributes(shard, of: group) }

  struct Item: Equatable {
    let properties: ItemProperties
    let secret: [UInt8]

    var document: CacheDocument {
      get throws { try CacheDocument(json: .init(secret)) }
    }
  }

  /// The items that have these attributes and perhaps others.
  func items(_ attributes: [String: String]) async throws -> [Item] {
    let paths = try await client.search(attributes, in: client.collection().path).unlocked
    let secrets = try await client.secrets(of: paths)
    var items: [Item] = []
    for path in paths {
      let secret = secrets[path]?.withUnsafeBytes(Array.init) ?? []
      items.append(Item(properties: try await client.item(path), secret: secret))
    }
    return items
  }

  func items(_ shard: ShardID) async throws -> [Item] { try await items(attributes(shard)) }

  /// The first item of a token's shard.
  func item(_ token: SampleToken) async throws -> Item {
    try #require(try await items(shard(token)).first)
  }

  /// The items of the whole group.
  func allItems() async throws -> [Item] { try await items(["group": group.name]) }

  @discardableResult
  func create(_ attributes: [String: String], _ text: [UInt8]) async throws -> ObjectPath {
    try await client.create(
      label: "Test", attributes: attributes, secret: SecretBytes(copying: text),
      in: client.collection().path)
  }

  @discardableResult
  func create(_ attributes: [String: String], _ text: String) async throws -> ObjectPath {
    try await create(attributes, Array(text.utf8))
  }

  /// The tokens as all programs see them, item by item: each shard has one, with the format's attributes, and in it
  /// nothing but what belongs there.
  func savedNames() async throws -> Set<String> {
    var names: Set<String> = []
    var shards: Set<ShardID> = []
    for item in try await allItems() {
      let shard = ShardID(rawValue: try #require(item.properties.attributes["shard"]))
      #expect(item.properties.ownAttributes == attributes(shard))
      #expect(shards.insert(shard).inserted)
      let document = try item.document
      if shard == commonShard { continue }
      for credential in document.accessTokens.values {
        let token = try #require(AccessToken(credential))
        let name = try #require(SampleToken.name(ofAccessToken: token.secret))
        #expect(token.credential.target == SampleToken(name, account: 0).scope)
        #expect(ShardID(homeAccountID: token.homeAccountID, group: group) == shard)
        #expect(names.insert(name).inserted)
      }
      #expect(document.accounts.count == 1)
      #expect(document.idTokens.count == 1)
      #expect(document.refreshTokens.count == 1)
    }
    let snapshot = try await otherCache().snapshot()
    #expect(snapshot.problems.isEmpty)
    let secrets = snapshot.document.accessTokens.values.compactMap(\.secret)
    #expect(Set(secrets.compactMap(SampleToken.name(ofAccessToken:))) == names)
    return names
  }

  /// Kills a process in the middle of a write. What it did before is that an item got the secret of a token.
  func killWriter(leaving token: SampleToken) async throws {
    let worker = try await server()
    #expect(await worker.ask("begin") == "writing")
    #expect(store.generation(of: group) == nil)
    worker.kill()
    _ = await worker.finish()
    #expect(store.generation(of: group) == nil)
    let path = try await item(token).properties.path
    try await client.setSecret(.init(copying: try await shardText(token)), of: path)
  }

  /// The shard that saving a token would make of an empty one.
  func shardText(_ token: SampleToken) async throws -> [UInt8] {
    let store = InMemoryStore()
    try await TokenCacheAccessor(store: store, group: group).save(token)
    return Array(try store.read(.some([shard(token)]), in: group)[shard(token)].json())
  }
}

extension FakeService {
  /// A store on this service, which has the plain session alone.
  func store(prompt: PromptPermission = .denied, timeout: Duration = .seconds(600)) -> KeyringCacheStore {
    KeyringCacheStore(
      SecretServiceConnection(busAddress: keyring.busAddress, allowsPlainSession: true), prompt: prompt,
      timeout: timeout, environment: keyring.environment)
  }

  var hasBeenWrittenTo: Bool { !Set(["CreateItem", "SetSecret", "Delete"]).isDisjoint(with: calls) }
}
