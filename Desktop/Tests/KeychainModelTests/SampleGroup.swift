import FoundationEssentials
import SecretService
import Synchronization
import TokenCache

@testable import KeychainModel

/// A group in memory, with what tests need of accounts and tokens.
struct SampleGroup {
  let store = InMemoryStore()
  let group = KeychainGroup.default
  let now = Date(timeIntervalSince1970: 1_800_000_000)

  static let alice = "alice.contoso"
  static let bob = "bob.contoso"
  static let mail = "mail-client"
  static let files = "files-client"

  var cache: TokenCacheAccessor { TokenCacheAccessor(store: store, group: group) }

  func keychain(_ environment: [String: String] = [:]) -> Keychain {
    Keychain(environment: environment, store: store)
  }

  func listing() async throws -> GroupListing { try await keychain().listing(of: group) }

  /// Alice has a token of each client, of which one can be renewed; Bob has none.
  func fill() async throws {
    var document = CacheDocument()
    for (id, name) in [(Self.alice, "Alice"), (Self.bob, "Bob")] {
      var account = AccountRecord(
        homeAccountID: id, environment: "login.microsoftonline.com", realm: "contoso")
      account.username = name.lowercased() + "@contoso.com"
      account.name = name
      document.accounts["account-\(id)"] = account
    }
    document.accessTokens["mail"] = token(of: Self.mail, "Mail.Read", endingIn: 1800)
    document.accessTokens["files"] = token(of: Self.files, "Files.Read", endingIn: 3000)
    document.refreshTokens["refresh"] = Credential(
      type: .refreshToken, homeAccountID: Self.alice, environment: "login.microsoftonline.com",
      clientID: Self.mail, secret: "secret-refresh")
    _ = try await cache.import(document)
  }

  func token(
    of clientID: String, _ scopes: String, account: String? = alice, endingIn seconds: Double = 3600
  ) -> Credential {
    var token = Credential(
      type: .accessToken, homeAccountID: account, environment: "login.microsoftonline.com",
      clientID: clientID,
      secret: "secret-\(clientID)")
    token.realm = "contoso"
    token.target = scopes
    token.cachedAt = now
    token.expiresOn = now + seconds
    return token
  }
}

/// A store that asks a person before every change, as KeePassXC does.
struct AskingStore: CacheStore {
  let store: InMemoryStore
  let mayPrompt: Bool

  func groups() async throws(CacheError) -> [KeychainGroup] { store.groups() }

  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents {
    store.read(shards, in: group)
  }

  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    try ask()
    return try store.update(shards, in: group, change)
  }

  func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    try ask()
    return store.remove(removal, in: group)
  }

  func generation(of group: KeychainGroup) -> UInt64? { store.generation(of: group) }

  private func ask() throws(CacheError) {
    guard !mayPrompt else { return }
    throw CacheError(.locked, "It wants to ask.", underlyingError: SecretServiceError.promptRequired)
  }
}

/// A store that records what is read.
final class RecordingStore: CacheStore {
  let store: InMemoryStore
  let reads = Mutex<[ShardSelection]>([])

  init(store: InMemoryStore) { self.store = store }

  func groups() async throws(CacheError) -> [KeychainGroup] { store.groups() }

  func read(_ shards: ShardSelection, in group: KeychainGroup) async throws(CacheError) -> GroupContents {
    reads.withLock { $0.append(shards) }
    return store.read(shards, in: group)
  }

  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) async throws(CacheError) -> Result { try store.update(shards, in: group, change) }

  func remove(_ removal: Removal, in group: KeychainGroup) async throws(CacheError) -> Int {
    store.remove(removal, in: group)
  }

  func generation(of group: KeychainGroup) -> UInt64? { store.generation(of: group) }
}
