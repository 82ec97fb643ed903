import Crypto
import Dispatch
import Sealing
import SecretService
import TestSupport

@testable import EncryptedFileStore

/// A change of keys, complete and interrupted.
@Suite(.timeLimit(.minutes(20)))
struct RekeyTests {
  private let one = SampleToken("one", account: 1)
  private let two = SampleToken("two", account: 2)

  private let fixture: Fixture

  init() async throws { fixture = try await Self.filled(one, two) }

  private static func filled(_ one: SampleToken, _ two: SampleToken) async throws -> Fixture {
    let fixture = try await Fixture(saving: one, two)
    try await fixture.otherGroup(on: fixture.store).save(one)
    return fixture
  }

  /// The ids of the keys that the group's files are sealed with.
  private func keyIDs() throws -> Set<[UInt8]> { try Set(fixture.files().values.map { Array($0[16..<32]) }) }

  @Test func `A change that fails when the new key is in force says so`() async throws {
    chmod(fixture.groupPath, 0o755)
    let error = await expectCacheError(.unavailable) {
      _ = try await fixture.store.rekey(to: .passphrase("new"))
    }
    #expect(error?.message.hasPrefix("The new key opens the store") == true)
    #expect(error?.advice?.contains("Keep the new key") == true)
    chmod(fixture.groupPath, 0o700)
    await expectCacheError(.wrongKey) { try await fixture.otherCache().finds(one) }
    #expect(try await fixture.otherCache(key: .passphrase("new")).finds(one))
  }

  @Test func `A change with the same key file that fails says that the key is the same`() async throws {
    chmod(fixture.groupPath, 0o755)
    let error = await expectCacheError(.unavailable) { _ = try await fixture.store.rekey() }
    #expect(error?.message.contains("not finished") == true && error?.message.contains("old one") == false)
    chmod(fixture.groupPath, 0o700)
    #expect(try await fixture.otherCache().finds(one))
  }

  @Test func `A change that is cancelled while the new key is asked for changes nothing later`() async throws
  {
    let (keys, root) = (try fixture.bytes(fixture.keys), fixture.root)
    let (isAsked, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let source = KeySource.passphrase { _ in
      isAsked.signal()
      release.wait()
      return SecretBytes(copying: Array("new".utf8))
    }
    let changing = Task { try await fixture.store.rekey(to: source) }
    await blocking { isAsked.wait() }
    changing.cancel()
    let error = await expectCacheError(.cancelled) { try await changing.value }
    #expect(error?.message.contains("may or may not") == false)
    release.signal()
    // The change has the store's lock until its end.
    try await blocking { try HeldLockFile(directory: root, name: "lock").release() }
    #expect(try fixture.bytes(fixture.keys) == keys)
    #expect(try await fixture.otherCache().finds(one))
  }

  @Test func `After a change the new key opens everything and the old one nothing`() async throws {
    let before = try keyIDs()
    let (oldKeys, oldFile) = (try fixture.bytes(fixture.keys), try fixture.bytes(fixture.path(one)))
    let summary = try await fixture.store.rekey(to: .passphrase("new"))
    #expect(summary == RekeySummary(resealed: 7, left: 0))
    #expect(try keyIDs().isDisjoint(with: before))
    #expect(try keyIDs().count == 1)
    #expect(try fixture.bytes(fixture.keys).count == 140)

    #expect(try await fixture.cache.finds(one))
    let cache = fixture.otherCache(key: .passphrase("new"))
    for token in [one, two] { #expect(try await cache.finds(token)) }
    #expect(try await fixture.problems(cache).isEmpty)
    #expect(try await cache.store.groups().count == 2)
    await expectCacheError(.wrongKey) { try await fixture.otherCache().finds(one) }

    // The key of a file from before is unknown; with the old keys, those of all others are.
    try fixture.write(oldFile, to: fixture.path(one))
    #expect(try await fixture.problems(cache).map(\.kind) == [.wrongKey])
    try fixture.write(oldKeys, to: fixture.keys)
    let problems = try await fixture.otherStore().read(.all, in: fixture.group).problems
    #expect(Set(problems.map(\.kind)) == [.wrongKey])
  }

  @Test func `Another process's open store continues to read and write`() async throws {
    let other = fixture.otherCache()
    #expect(try await other.finds(one))
    _ = try await fixture.store.rekey()
    try await other.save(SampleToken("three", account: 3))
    #expect(try await fixture.cache.finds(SampleToken("three", account: 3)))
    #expect(try keyIDs().count == 1)
  }

  @Test func `Writers during a change of keys lose nothing`() async throws {
    let tokens = (0..<60).map { SampleToken("t\($0)", account: $0 % 6) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        let cache = fixture.otherCache()
        group.addTask {
          for token in tokens where token.account % 3 == writer { try await cache.save(token) }
        }
      }
      group.addTask { for _ in 0..<5 { _ = try await fixture.store.rekey() } }
      try await group.waitForAll()
    }
    _ = try await fixture.store.rekey()
    let cache = fixture.otherCache()
    for token in tokens { #expect(try await cache.finds(token), "\(token.name)") }
    #expect(try await fixture.problems(cache).isEmpty)
    #expect(try keyIDs().count == 1)
    #expect(try fixture.bytes(fixture.keys).count == 140)
  }

  @Test(.requirement("R12.23"))
  func `An interrupted change leaves a store that the new key opens, and is finished later`()
    async throws
  {
    // As it is when half of the files are sealed again.
    let oldFiles = try fixture.files()
    let keyFile = Array(try fixture.bytes(fixture.directory + "/key"))
    let oldBytes = try fixture.bytes(fixture.keys)
    let oldKeys = try SealedKeys.open(oldBytes, with: SealedKeys.Header(oldBytes).key(from: keyFile))
    _ = try await fixture.store.rekey(to: .passphrase("new"))
    let newBytes = try fixture.bytes(fixture.keys)
    let header = try SealedKeys.Header(newBytes)
    let key = try header.key(from: Array("new".utf8))
    let newKeys = try SealedKeys.open(newBytes, with: key)
    let both = DataKeys(current: newKeys.current, older: oldKeys.all)
    try fixture.write(SealedKeys.seal(both, header, with: key), to: fixture.keys)
    for name in ["manifest.sealed", "\(fixture.shard(one)).sealed"] {
      try fixture.put([name: try #require(oldFiles[name])])
    }
    #expect(try keyIDs().count == 2)

    let cache = fixture.otherCache(key: .passphrase("new"))
    for token in [one, two] { #expect(try await cache.finds(token)) }
    #expect(try await fixture.problems(cache).isEmpty)
    try await cache.save(SampleToken("three", account: 3))
    let store = fixture.otherStore(key: .passphrase("new"))
    #expect(try await store.rekey().left == 0)
    #expect(try keyIDs().count == 1)
    #expect(try fixture.bytes(fixture.keys).count == 140)
    #expect(try await fixture.otherCache(key: .passphrase("new")).finds(two))
  }

  @Test(arguments: [false, true])
  func `While a file cannot be opened its key is kept`(isLink: Bool) async throws {
    let intact = try fixture.bytes(fixture.path(one))
    if isLink {
      try fixture.remove(fixture.path(one))
      #expect(symlink("/proc/nonexistent", fixture.path(one)) == 0)
    } else {
      try fixture.change(fixture.path(one)) { $0[300] ^= 1 }
    }
    #expect(try await fixture.store.rekey() == RekeySummary(resealed: 6, left: 1))
    if isLink { unlink(fixture.path(one)) }
    try fixture.write(intact, to: fixture.path(one))
    #expect(try await fixture.otherCache().finds(one))
    #expect(try await fixture.store.rekey() == RekeySummary(resealed: 7, left: 0))
    #expect(try await fixture.otherCache().finds(one))
    #expect(try fixture.bytes(fixture.keys).count == 140)
  }

  @Test(.fault("other keys"))
  func `With another store's keys the files that they do not open are counted, and stay`() async throws {
    let sound = try fixture.bytes(fixture.keys)
    let other = try await Self.filled(one, two)
    try fixture.write(try other.bytes(other.keys), to: fixture.keys)
    let files = try fixture.files()
    #expect(try await fixture.otherStore().rekey() == RekeySummary(resealed: 0, left: 7, kept: 7))
    #expect(try fixture.files() == files)
    try fixture.write(sound, to: fixture.keys)
    #expect(try await fixture.otherCache().finds(one))
  }

  @Test func `A key in the keyring is replaced by a new item`() async throws {
    let fixture = try Fixture()
    let keyring = try PrivateKeyring()
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    func items() async throws -> [ObjectPath] {
      try await client.search(["xdg:schema": "org.llavero.StoreKey"]).unlocked
    }
    let store = fixture.otherStore(key: .keyring(), busAddress: keyring.busAddress)
    let cache = fixture.accessor(on: store)
    try await cache.save(one)
    let before = try await client.secrets(of: try await items()).values.map { $0.withUnsafeBytes(Array.init) }
    _ = try await store.rekey()
    let after = try await client.secrets(of: try await items()).values.map { $0.withUnsafeBytes(Array.init) }
    #expect(after.count == 1)
    #expect(before != after)
    _ = try await store.rekey(to: .keyFile(path: fixture.directory + "/key"))
    #expect(try await items().isEmpty)
    #expect(try await fixture.cache.finds(one))
  }

  @Test(.fault("keys gone"))
  func `A change without keys is an error, and changes nothing`() async throws {
    try fixture.remove(fixture.keys)
    let files = try fixture.files()
    let error = await expectCacheError(.damaged) { _ = try await fixture.otherStore().rekey() }
    #expect(error?.message.contains("\(fixture.keys) is missing") == true)
    #expect(try fixture.files() == files)
    #expect(!fixture.isThere(fixture.keys))
  }

  @Test(.fault("odd group"), arguments: ["keys.new", "lock.new", "manifest.sealed"])
  func `A group with the name of a store's file disturbs no file`(name: String) async throws {
    let cache = TokenCacheAccessor(store: fixture.store, group: try KeychainGroup(name))
    try await cache.save(one)
    #expect(try await fixture.store.rekey(to: .passphrase("new")).left == 0)
    #expect(try await cache.finds(one))
    #expect(try await fixture.otherCache(key: .passphrase("new")).finds(two))
  }

  @Test(.requirement("R12.3"), .fault("keys gone")) func `More keys than a reader accepts are not written`()
    async throws
  {
    let bytes = try fixture.bytes(fixture.keys)
    let header = try SealedKeys.Header(bytes)
    let key = try header.key(from: fixture.bytes(fixture.directory + "/key"))
    let keys = try SealedKeys.open(bytes, with: key)
    let many = DataKeys(current: keys.current, older: (0..<1362).map { _ in DataKeys.Key() })
    try fixture.write(SealedKeys.seal(many, header, with: key), to: fixture.keys)
    let full = try fixture.bytes(fixture.keys)
    try fixture.change(fixture.path(one)) { $0[300] ^= 1 }
    let error = await expectCacheError(.tooLarge) { _ = try await fixture.otherStore().rekey() }
    #expect(error?.advice?.isEmpty == false)
    #expect(try fixture.bytes(fixture.keys) == full)
    #expect(try await fixture.otherCache().finds(two))
  }

  @Test(.fault("rekey killed")) func `Leftovers of a killed change are removed with the group`() async throws
  {
    for name in try fixture.files().keys { try fixture.put([name + ".new": [1, 2, 3]]) }
    #expect(try await fixture.otherStore().remove(.everything, in: fixture.group) == 3)
    #expect(try fixture.files().keys.sorted() == ["manifest.sealed"])
    try await fixture.cache.save(one)
    try fixture.put(["\(fixture.shard(one)).sealed.new": [1, 2, 3]])
    try await fixture.cache.removeAccount(one.homeAccountID)
    #expect(try fixture.files().keys.allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func `More groups than a process can have open files are read and sealed again`() async {
    await #expect(processExitsWith: .success) {
      let fixture = try await Fixture(saving: SampleToken("one", account: 1))
      let groups = try (0..<700).map { try KeychainGroup("org.example.group\($0)") }
      for group in groups { mkdir("\(fixture.root)/groups/\(group)", 0o700) }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var few = limit
      few.rlim_cur = 600
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
      for group in groups { #expect(try await fixture.store.read(.all, in: group).problems.isEmpty) }
      #expect(try await fixture.store.rekey().left == 0)
      // The leak sanitizer opens files when the process ends.
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
  }

  @Test func `A group that was emptied before is used after it`() async throws {
    _ = try await fixture.store.remove(.everything, in: fixture.group)
    let number = try fixture.manifestSequence
    #expect(try await fixture.store.remove(.everything, in: fixture.group) == 0)
    #expect(try fixture.manifestSequence == number)
    _ = try await fixture.store.rekey()
    try await fixture.cache.save(one)
    #expect(try await fixture.otherCache().finds(one))
  }

  @Test func `A change without a store does nothing`() async throws {
    let fixture = try Fixture()
    #expect(try await fixture.store.rekey(to: .passphrase("new")) == RekeySummary())
    #expect(!fixture.isThere(fixture.root))
  }
}
