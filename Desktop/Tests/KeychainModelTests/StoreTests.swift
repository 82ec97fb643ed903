import Configuration
import Dispatch
import EncryptedFileStore
import FoundationEssentials
import Sealing
import SecretService
import Synchronization
import TokenCache
import Testing

@testable import KeychainModel

/// The store that the configuration names.
struct StoreTests {
  private let sample = SampleGroup()
  private let home = FileManager.default.temporaryDirectory.path + "/llavero-\(UUID().uuidString)"
  private var directory: String { home + "/store" }

  /// Writes the configuration, and returns the environment that leads to it.
  private func configure(_ lines: String) throws -> [String: String] {
    let configuration = home + "/.config/llavero"
    try FileManager.default.createDirectory(atPath: configuration, withIntermediateDirectories: true)
    try Data("[llavero]\n\(lines)\n".utf8).write(to: URL(filePath: configuration + "/config"))
    return ["HOME": home]
  }

  private func makeWithKeyFile() async throws -> [String: String] {
    let key = home + "/key"
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    try Data(repeating: 7, count: 32).write(to: URL(filePath: key))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    return try await make(.keyFile(path: key), "file:" + key)
  }

  /// Fills an encrypted file store, and writes the configuration that names it.
  private func make(_ key: KeySource, _ setting: String) async throws -> [String: String] {
    let environment = try configure(
      "store = file:\(directory)\nkey = \(setting)\ngroup = \(sample.group.name)")
    try await sample.fill()
    let files = TokenCacheAccessor(
      store: EncryptedFileCacheStore(key: key, directory: directory), group: sample.group)
    _ = try await files.import(try await sample.cache.snapshot().document)
    return environment
  }

  private func remove() { try? FileManager.default.removeItem(atPath: home) }

  @Test func `The store of the configuration is shown, and named`() async throws {
    defer { remove() }
    let keychain = Keychain(environment: try await makeWithKeyFile(), asking: { _, _ in nil })
    #expect(keychain.storeName == "Encrypted files in \(directory)")
    #expect(try await keychain.groups() == [sample.group])
    let accounts = try await keychain.listing(of: sample.group).accounts
    #expect(accounts.map(\.title) == ["alice@contoso.com", "bob@contoso.com"])
  }

  @Test func `Apps are shown and found by the names of the configuration`() async throws {
    defer { remove() }
    let environment = try configure("\n[clients]\n\(SampleGroup.mail.uppercased()) = My mail\u{202e}")
    try await sample.fill()
    let alice = try #require(try await sample.keychain(environment).listing(of: sample.group).accounts.first)
    #expect(alice.apps == ["My mail\u{fffd}", SampleGroup.files])
    #expect(alice.tokens(Search("my mail")).allSatisfy { $0.app == "My mail\u{fffd}" })
  }

  @Test func `The first page is read before the rest`() async throws {
    try await sample.fill()
    let store = RecordingStore(store: sample.store)
    let keychain = Keychain(environment: [:], store: store)
    let first = try await sample.listing().firstShards
    #expect(first.count == 2)
    keychain.prepare(first: [first[0]])
    let page = await keychain.firstPage(of: sample.group)
    #expect(page?.accounts.map(\.title) == ["alice@contoso.com"])
    #expect(!store.reads.withLock { $0.contains(.all) })
    let rest = try await keychain.read(sample.group).listing.get()
    #expect(rest.accounts.map(\.title) == ["alice@contoso.com", "bob@contoso.com"])
    #expect(page?.accounts.first == rest.accounts.first)
    #expect(await keychain.firstPage(of: sample.group) == nil)
  }

  @Test func `A passphrase is asked for when the person unlocks the store, until it is right`() async throws {
    defer { remove() }
    let answers = Mutex([nil, "wrong", "wrong again", nil, "wrong", "right"])
    let repeated = Mutex<[Bool]>([])
    let environment = try await make(
      .passphrase { _ throws(CacheError) in SecretBytes(copying: Array("right".utf8)) }, "passphrase")
    let keychain = Keychain(
      environment: environment,
      asking: { question, wasWrong in
        #expect(question == .passphrase)
        repeated.withLock { $0.append(wasWrong) }
        return answers.withLock { $0.removeFirst() }.map { SecretBytes(copying: Array($0.utf8)) }
      })
    let locked = await #expect(throws: Trouble.self) { try await keychain.listing(of: sample.group) }
    #expect((locked?.title, locked?.help) == ("The Store Is Locked", .unlock))
    #expect(locked?.message.hasPrefix("The passphrase is needed") == true)
    let early = repeated.withLock(\.self)
    #expect(early.isEmpty)
    for _ in 1...2 {
      let dismissed = await #expect(throws: Trouble.self) { try await keychain.unlock(sample.group) }
      #expect(dismissed?.isCancellation == true)
    }
    try await keychain.unlock(sample.group)
    #expect(try await keychain.listing(of: sample.group).accounts.count == 2)
    let asked = repeated.withLock(\.self)
    #expect(asked == [false, false, true, true, false, true])
  }

  @Test func `A question is asked once while the person unlocks the store`() async throws {
    let questions = Mutex(0)
    let dialog = PassphraseDialog { _, _ in
      questions.withLock { $0 += 1 }
      return SecretBytes(copying: Array("right".utf8))
    }
    for round in 1...2 {
      try await dialog.allow { () async throws(CacheError) in
        for _ in 1...2 {
          let answer = await withCheckedContinuation {
            (continuation: CheckedContinuation<SecretBytes?, Never>) in
            DispatchQueue.global().async {
              continuation.resume(returning: try? dialog.answer(.passphrase))
            }
          }
          #expect(answer?.count == 5)
        }
      }
      let asked = questions.withLock { $0 }
      #expect(asked == round)
    }
  }

  @Test func `A question that is not answered in time is withdrawn`() async throws {
    let (never, answer) = AsyncStream.makeStream(of: Void.self)
    let (withdrawals, withdrawal) = AsyncStream.makeStream(of: Void.self)
    let dialog = PassphraseDialog(limit: .milliseconds(1)) { _, _ in
      for await _ in never {}
      withdrawal.yield()
      return nil
    }
    try await dialog.allow { () async throws(CacheError) in
      let error = await withCheckedContinuation { (continuation: CheckedContinuation<CacheError?, Never>) in
        DispatchQueue.global().async {
          do throws(CacheError) {
            _ = try dialog.answer(.passphrase)
            continuation.resume(returning: nil)
          } catch {
            continuation.resume(returning: error)
          }
        }
      }
      #expect(error?.code == .timedOut)
      #expect(error.map { Trouble($0).help } == .unlock)
    }
    for await _ in withdrawals { break }
    withExtendedLifetime(answer) {}
  }

  @Test(.timeLimit(.minutes(5))) func `A question that is no longer waited for is withdrawn`() async throws {
    let (never, answer) = AsyncStream.makeStream(of: Void.self)
    let (questions, asked) = AsyncStream.makeStream(of: Void.self)
    let (withdrawals, withdrawal) = AsyncStream.makeStream(of: Void.self)
    let dialog = PassphraseDialog { _, _ in
      asked.yield()
      for await _ in never {}
      withdrawal.yield()
      return nil
    }
    try await dialog.allow { () async throws(CacheError) in
      // The store's call goes on after its caller has given up.
      DispatchQueue.global().async { _ = try? dialog.answer(.passphrase) }
      for await _ in questions { break }
    }
    for await _ in withdrawals { break }
    withExtendedLifetime(answer) {}
  }

  @Test func `What is damaged is named by its account, and dated`() async throws {
    defer { remove() }
    let environment = try await makeWithKeyFile()
    let keychain = Keychain(environment: environment, asking: { _, _ in nil })
    #expect(try await keychain.listing(of: sample.group).damage.isEmpty)

    let shard = ShardID(homeAccountID: SampleGroup.alice, group: sample.group).rawValue
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
    let file = try #require(files.first { $0.contains(shard) })
    let start = Date()
    try Data("damaged".utf8).write(to: URL(filePath: "\(directory)/\(file)"))
    let damage = try await keychain.listing(of: sample.group).damage
    #expect(damage.map(\.name) == ["The tokens of alice@contoso.com"])
    #expect(damage.map(\.isRemoved) == [true])
    // The kernel's clock for files may be late by a tick.
    #expect(damage.allSatisfy { (start - 1...Date()).contains($0.modified ?? .distantPast) })
    let another = Keychain(environment: environment, asking: { _, _ in nil })
    let name = try await another.listing(of: sample.group).damage.first?.name
    #expect(name == "The tokens of an unknown account (\(shard.prefix(8)))")
    try await keychain.removeDamaged(in: sample.group)
    #expect(try await keychain.listing(of: sample.group).damage.isEmpty)
  }

  @Test func `A group whose entries are unreadable, or whose folder is missing, does not count as empty`()
    async throws
  {
    defer { remove() }
    let keychain = Keychain(environment: try await makeWithKeyFile(), asking: { _, _ in nil })
    func reason() async throws -> Trouble {
      await keychain.emptyGroup(try await keychain.listing(of: sample.group), among: []).reason
    }
    let shards = [SampleGroup.alice, SampleGroup.bob].map {
      ShardID(homeAccountID: $0, group: sample.group).rawValue
    }
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory)
    for file in files where shards.contains(where: file.contains) {
      try Data("damaged".utf8).write(to: URL(filePath: "\(directory)/\(file)"))
    }
    let unreadable = try await reason()
    #expect((unreadable.title, unreadable.help) == ("Entries Cannot Be Read", .removeDamaged))
    try FileManager.default.removeItem(atPath: directory)
    let missing = try await reason()
    #expect((missing.title, missing.help) == ("The Folder Is Missing", .doctor))
    #expect(missing.message.contains(directory))
  }

  @Test(arguments: [
    ["LLAVERO_STORE": "file"], ["LLAVERO_STORE": "etcd"],
    ["LLAVERO_STORE": "etcd+https://etcd.example.com/x"],
    [
      "LLAVERO_STORE": "etcd+https://etcd.example.com/x", "LLAVERO_KEY": "keyring", "LLAVERO_ETCD_USER": "me",
    ],
    [
      "LLAVERO_STORE": "etcd+https://etcd.example.com/x", "LLAVERO_KEY": "keyring",
      "LLAVERO_ETCD_CA": "/proc/nonexistent",
    ],
  ])
  func `A store that lacks something is an error with the reason`(environment: [String: String]) async {
    let keychain = Keychain(environment: environment, asking: { _, _ in nil })
    let trouble = await #expect(throws: Trouble.self) { try await keychain.groups() }
    #expect(trouble?.title == "Invalid Setting", "\(trouble?.description ?? "")")
  }

  @Test func `Unknown settings of the configuration are an error`() async throws {
    defer { remove() }
    let keychain = Keychain(environment: try configure("gruop = x"), asking: { _, _ in nil })
    let trouble = await #expect(throws: Trouble.self) { try await keychain.groups() }
    #expect(trouble?.message.contains("gruop") == true)
  }
}
