import Sealing
import SecretService
import TestSupport

@testable import EncryptedFileStore

/// The sources of the key, and the errors for a wrong one.
@Suite(.timeLimit(.minutes(20)))
struct KeyTests {
  private let token = SampleToken("one", account: 1)
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test func `A passphrase opens what it sealed, another does not`() async throws {
    try await fixture.otherCache(key: .passphrase("correct horse")).save(token)
    #expect(try await fixture.otherCache(key: .passphrase("correct horse")).finds(token))
    for wrong in ["correct horsf", "correct horse ", "Correct horse"] {
      let cache = fixture.otherCache(key: .passphrase(wrong))
      let error = await expectCacheError(.wrongKey) { try await cache.finds(token) }
      #expect(error?.underlyingError as? SealError == .wrongKey)
      #expect(error?.advice?.contains("Another application") == false)
      await expectCacheError(.wrongKey) { try await cache.save(token) }
    }
    let empty = await expectCacheError(.wrongKey) {
      try await fixture.otherCache(key: .passphrase("")).finds(token)
    }
    #expect(empty?.message == "The passphrase is empty.")
  }

  @Test func `A passphrase is asked for once, with its purpose`() async throws {
    let asked = Mutex<[PassphraseUse]>([])
    let source = KeySource.passphrase { use in
      asked.withLock { $0.append(use) }
      return SecretBytes(copying: Array("secret".utf8))
    }
    let cache = fixture.otherCache(key: source)
    #expect(try await !cache.finds(token))
    #expect(asked.withLock { $0 } == [])
    try await cache.save(token)
    #expect(try await cache.finds(token))
    #expect(asked.withLock { $0 } == [.set])
    let other = fixture.otherCache(key: source)
    for isFound in try await atOnce(0..<20, { _ in try await other.finds(token) }) { #expect(isFound) }
    #expect(asked.withLock { $0 } == [.set, .open])
  }

  @Test func `A dismissed question for the passphrase is the error of the call`() async throws {
    try await fixture.otherCache(key: .passphrase("secret")).save(token)
    let source = KeySource.passphrase { _ throws(CacheError) in throw CacheError(.promptDismissed, "No.") }
    await expectCacheError(.promptDismissed) { try await fixture.otherCache(key: source).finds(token) }
  }

  @Test func `A key file must be there, be long enough and be closed to others`() async throws {
    let path = fixture.directory + "/other"
    func save() async throws { try await fixture.otherCache(key: .keyFile(path: path)).save(token) }
    let missing = await expectCacheError(.unavailable) { try await save() }
    #expect(missing?.advice?.contains("set -C; head -c 32 /dev/urandom > \(path)") == true)
    try fixture.write(.init(repeating: 7, count: 31), to: path)
    let short = await expectCacheError(.wrongKey) { try await save() }
    #expect(short?.advice?.contains("/dev/urandom") == false)
    try fixture.write(.init(repeating: 7, count: 32), to: path)
    chmod(path, 0o640)
    let open = await expectCacheError(.unavailable) { try await save() }
    #expect(open?.advice?.contains("chmod go= \(path)") == true)
    chmod(path, 0o400)
    try await save()
    #expect(fixture.isThere(fixture.keys))
    await expectCacheError(.wrongKey) { try await fixture.cache.finds(token) }
  }

  @Test func `A systemd credential is a key file that systemd closes`() async throws {
    let environment = ["CREDENTIALS_DIRECTORY": fixture.directory]
    func cache(_ name: String, _ environment: [String: String]) -> TokenCacheAccessor {
      fixture.accessor(on: fixture.otherStore(key: .credential(name: name), environment: environment))
    }
    // The mode of a file to which systemd gives the service's user access.
    chmod(fixture.directory + "/key", 0o440)
    try await cache("key", environment).save(token)
    chmod(fixture.directory + "/key", 0o600)
    #expect(try await fixture.cache.finds(token))
    #expect(try await cache("key", environment).finds(token))
    for (name, environment) in [("key", [:]), ("other", environment), ("../key", environment)] {
      let error = await expectCacheError(.unavailable) { try await cache(name, environment).finds(token) }
      // Its command replaces no file, and makes none outside of the directory for credentials.
      let advised = error?.advice?.contains(
        "LoadCredentialEncrypted=\(name):/etc/credstore.encrypted/\(name)")
      #expect(error?.advice?.contains("make the credential") != true, "The store has tokens.")
      #expect(advised == (name.contains("/") ? nil : true))
    }
  }

  @Test(.requirement("R12.5")) func `A key in the keyring is one small item`() async throws {
    let keyring = try PrivateKeyring()
    func cache() -> TokenCacheAccessor {
      fixture.accessor(on: fixture.otherStore(key: .keyring(), busAddress: keyring.busAddress))
    }
    try await cache().save(token)
    #expect(try await cache().finds(token))
    let client = SecretServiceClient(busAddress: keyring.busAddress)
    let items = try await client.search(["xdg:schema": "org.llavero.StoreKey"]).unlocked
    #expect(items.count == 1)
    let item = try #require(items.first)
    #expect(try await client.secrets(of: items)[item]?.count == 64)

    try keyring.lockCollection()
    await expectCacheError(.locked) { try await cache().finds(token) }
    try keyring.unlockCollection()
    #expect(try await cache().finds(token))
    let path = try #require(try await client.search(["xdg:schema": "org.llavero.StoreKey"]).unlocked.first)
    for isDeleted in [false, true] {
      if isDeleted {
        try await client.delete(path)
      } else {
        try await client.setSecret(SecretBytes(copying: []), of: path)
      }
      let error = await expectCacheError(.wrongKey) { try await cache().finds(token) }
      #expect(error?.message.contains("does not hold the key") == true)
    }
    keyring.killDaemon()
    await expectCacheError(.unavailable) { try await cache().finds(token) }
  }

  @Test func `A keyring that refuses to encrypt gets no key`() async throws {
    let service = try FakeService()
    let store = fixture.otherStore(key: .keyring(), busAddress: service.keyring.busAddress)
    let error = await expectCacheError(.refused) { try await store.open(makingStore: true) }
    #expect(error?.underlyingError as? SecretServiceError == .encryptionRefused)
  }

  @Test(arguments: [PromptPermission.denied, .allowed(waitingUpTo: .seconds(120))])
  func `A collection for the key is made only where the keyring may prompt`(prompt: PromptPermission)
    async throws
  {
    let service = try FakeService(["ReadAlias": .reply([.objectPath("/")])])
    let store = fixture.otherStore(
      key: .keyring(prompt: prompt, allowsPlainSession: true), busAddress: service.keyring.busAddress)
    await #expect(throws: CacheError.self) { try await store.open(makingStore: true) }
    #expect(service.calls.contains("CreateCollection") == (prompt != .denied))
  }

  @Test func `A store says what kind of key it has`() async throws {
    try await fixture.otherCache(key: .passphrase("x")).save(token)
    let error = await expectCacheError(.wrongKey) { try await fixture.cache.finds(token) }
    #expect(error?.message.contains("its key is a passphrase") == true)
    #expect(error?.underlyingError as? SealError == .otherKeySource(.passphrase))
  }

  @Test(.requirement("R12.6"), .fault("keys gone"))
  func `A store whose keys are missing or damaged gets no new ones`() async throws {
    let fixture = try await Fixture(saving: token)
    let keys = try fixture.bytes(fixture.keys)
    #expect(keys.count == 140)
    for damage in [Array(keys.dropLast()), [], Array(repeating: 0, count: 140), keys.map { $0 ^ 1 }] {
      try fixture.write(damage, to: fixture.keys)
      let error = await expectCacheError(.damaged) { try await fixture.otherCache().finds(token) }
      #expect(error?.advice?.contains("mv \(fixture.root) ") == true)
      await expectCacheError(.damaged) { try await fixture.otherCache().save(token) }
      #expect(try fixture.bytes(fixture.keys) == damage)
    }
    try fixture.remove(fixture.keys)
    let error = await expectCacheError(.damaged) { try await fixture.otherCache().save(token) }
    #expect(error?.advice?.contains("mv \(fixture.root) ") == true)
    await expectCacheError(.damaged) { try await fixture.otherCache().finds(token) }
    #expect(!fixture.isThere(fixture.keys))
    try fixture.write(keys, to: fixture.keys)
    #expect(try await fixture.otherCache().finds(token))
  }

  @Test(.fault("keys gone"))
  func `A path in an advice is quoted for a shell, and no advice deletes what may be intact`() async throws {
    let parent = try TemporaryDirectory()
    let directory = try parent.directory("my 'data'; x")
    chmod(directory, 0o700)
    let fixture = try Fixture(in: directory)
    let key = fixture.directory + "/no key"
    /// What a shell makes of the words that follow another in a command that an advice names.
    func words(after word: String, _ error: CacheError?) throws -> [String] {
      let commands = (error?.advice ?? "").split(separator: "\"")
      let command = try #require(commands.first { $0.contains(word) }, "\(error?.advice ?? "")")
      let rest = command.split(separator: word, maxSplits: 1).last?.filter { $0 != ")" } ?? ""
      return try Child.output("sh", ["-c", "printf '%s\\n' \(rest)"]).split(separator: "\n").map(String.init)
    }
    let missing = await #expect(throws: CacheError.self) {
      try await fixture.otherCache(key: .keyFile(path: key)).save(token)
    }
    #expect(try words(after: "> ", missing) == [key])
    try await fixture.cache.save(token)
    chmod(fixture.groupPath, 0o755)
    let open = await #expect(throws: CacheError.self) { try await fixture.otherCache().finds(token) }
    #expect(try words(after: "chmod go= ", open) == [fixture.groupPath])
    chmod(fixture.groupPath, 0o700)
    // Another key opens nothing that is there.
    let gone = await #expect(throws: CacheError.self) {
      try await fixture.otherCache(key: .keyFile(path: key)).finds(token)
    }
    #expect(gone?.advice?.contains("restore the key") == true && gone?.advice?.contains("> ") == false)
    try fixture.remove(fixture.keys)
    let lost = await #expect(throws: CacheError.self) { try await fixture.otherCache().finds(token) }
    #expect(lost?.advice?.contains("rm ") == false)
    #expect(try words(after: "mv ", lost).first == fixture.root)
  }

  @Test(.fault("version 0", "bad keys header"))
  func `Keys that ask for too much memory, or are of a later version, are refused`() async throws {
    try await fixture.otherCache(key: .passphrase("secret")).save(token)
    let keys = try fixture.bytes(fixture.keys)
    for (offset, byte) in [(39, 30), (19, 9)] as [(Int, UInt8)] {
      try fixture.forge(fixture.keys) { $0[offset] = byte }
      let error = await expectCacheError(.damaged) {
        try await fixture.otherCache(key: .passphrase("secret")).finds(token)
      }
      #expect(error?.message.contains("opens") == false)
      try fixture.write(keys, to: fixture.keys)
    }
    // Cheaper to try than it was made: the seal covers that.
    try fixture.forge(fixture.keys) { $0[39] -= 1 }
    await expectCacheError(.wrongKey) {
      try await fixture.otherCache(key: .passphrase("secret")).finds(token)
    }
    try fixture.write(keys, to: fixture.keys)
    for version in [0, 2] as [UInt8] {
      try fixture.forge(fixture.keys) { $0[11] = version }
      await expectCacheError(.newerVersion) {
        try await fixture.otherCache(key: .passphrase("secret")).finds(token)
      }
    }
    // Longer than any of this version, and shorter.
    try fixture.forge(fixture.keys) { $0[11] = 2 }
    #expect(truncate(fixture.keys, 70_000) == 0)
    await expectCacheError(.newerVersion) {
      try await fixture.otherCache(key: .passphrase("secret")).finds(token)
    }
    try fixture.write(
      Array("LLAVEROK".utf8) + [0, 0, 0, 2, 0, 0, 0, 32] + .init(repeating: 0, count: 16), to: fixture.keys)
    try fixture.forge(fixture.keys) { _ in }
    await expectCacheError(.newerVersion) {
      try await fixture.otherCache(key: .passphrase("secret")).finds(token)
    }
  }

  /// In a process of its own, whose memory it bounds.
  @Test(.fault("little memory")) func `A shortage of memory is no damage`() async {
    await #expect(processExitsWith: .success) {
      let header = SealedKeys.Header(.passphrase, scrypt: .standard)
      let memory = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
      let limit = try #require(UInt(memory.prefix { $0 != " " })) * UInt(getpagesize()) + (64 << 20)
      var bound = rlimit(rlim_cur: limit, rlim_max: .max)
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &bound)
      let error = #expect(throws: SealError.outOfMemory(mebibytes: 128)) {
        try header.key(from: Array("secret".utf8))
      }
      bound.rlim_cur = .max
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &bound)
      _ = try header.key(from: Array("secret".utf8))
      let told = error?.cacheError(of: "The store")
      #expect(told?.code == .unavailable)
      #expect(told?.message.contains("128 MiB of memory") == true)
    }
  }

  @Test(.requirement("R12.24")) func `Two processes that make the store at once make one`() async throws {
    try await atOnce(0..<8) { number in
      try await fixture.otherCache(key: .passphrase("secret")).save(
        SampleToken("t\(number)", account: number))
    }
    let cache = fixture.otherCache(key: .passphrase("secret"))
    for number in 0..<8 { #expect(try await cache.finds(SampleToken("t\(number)", account: number))) }
  }
}
