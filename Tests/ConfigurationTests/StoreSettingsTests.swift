import TestSupport

@testable import Configuration

struct StoreSettingsTests {
  private func settings(
    _ address: String?, key: KeyChoice? = nil
  ) throws -> StoreSettings {
    var settings = StoreSettings()
    settings.address = try address.map { try StoreAddress($0) }
    settings.key = key
    return settings
  }

  @Test func `Settings go before those of another place, one by one`() throws {
    var other = try settings("keyring", key: .keyring)
    other.collection = "x"
    let all = try settings("file", key: .passphrase).withDefaults(from: other)
    #expect((all.kind, all.key, all.collection) == (.file, .passphrase, "x"))
    #expect(try settings(nil).withDefaults(from: settings("file")).kind == .file)
    #expect(try settings(nil).kind == .keyring)
  }

  @Test func `A configuration gets only what its kind of store uses, and no descriptor`() throws {
    var all = try settings("file", key: .passphraseDescriptor(3))
    (all.etcdUser, all.etcdCA, all.etcdPassword) = ("me", "/ca.pem", .file("password"))
    all.collection = "x"
    var file = try settings("file", key: .passphrase)
    #expect(all.persistent == file)
    file.address = .keyring
    #expect(file.persistent.key == nil)
    all.address = try StoreAddress("etcd+https://a.example.com")
    #expect(all.persistent.etcdPassword?.argument.hasPrefix("file:/") == true)
    #expect(all.persistent.collection == nil)
  }

  @Test(
    arguments: [
      (nil, .passphrase, .passphrase, true), ("file", .keyring, nil, true), ("file", nil, .keyring, false),
      ("etcd+https://a.test", .keyring, nil, true), ("etcd+https://a.test", nil, .keyring, true),
      ("etcd+https://a.test", .passphrase, .passphrase, false),
    ] as [(String?, KeyChoice?, KeyChoice?, Bool)])
  func `The keyring is used for the store, its key or etcd's password`(
    address: String?, key: KeyChoice?, password: KeyChoice?, isUsed: Bool
  ) throws {
    var settings = try settings(address, key: key)
    settings.etcdPassword = password
    #expect(settings.usesKeyring == isUsed)
  }

  @Test func `A store is prepared by making it, with a secret of the right size`() async throws {
    let directory = try TemporaryDirectory()
    let access = StoreAccess(
      ask: { _ throws(CacheError) in throw CacheError(.unavailable, "No.") },
      transport: { _ throws(HTTPTransportError) in throw HTTPTransportError.cancelled })
    #expect(!access.allowsPlainSession)
    func prepare(_ key: KeyChoice) async throws {
      let store = try settings("file:\(directory.path)/store", key: key).store(access)
      try await TokenCacheAccessor(store: store).prepareStore()
    }
    await expectCacheError(.unavailable) { try await prepare(.passphraseDescriptor(-1)) }
    for (count, code) in [(1, .wrongKey), (65_537, .tooLarge)] as [(Int, CacheError.Code)] {
      let path = try directory.file("passphrase", String(repeating: "\n", count: count))
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      await expectCacheError(code) { try await prepare(.passphraseDescriptor(descriptor)) }
      if code == .wrongKey { #expect(lseek(descriptor, 0, SEEK_CUR) == 0) }
    }
    try await prepare(.file(directory.file("key", String(repeating: "k", count: 32), mode: 0o600)))
    #expect(FileManager.default.fileExists(atPath: directory.path + "/store/keys"))
  }

  @Test(arguments: [
    ("keyring", "keyring", true), ("keyring", "file", false), ("file", "file", true),
    ("file:/proc/self/../1", "file:/proc/1", true), ("file:/a", "file:/b", false),
    ("etcd+https://a.example.com,b.example.com/x", "etcd+https://b.example.com/x", true),
    ("etcd+https://a.example.com/x", "etcd+https://a.example.com/y", false),
    ("etcd+https://a.example.com", "etcd+https://b.example.com", false),
  ])
  func `One store is recognized in two spellings`(one: String, other: String, isSame: Bool) throws {
    #expect(try settings(one).isSameStore(as: settings(other)) == isSame)
    #expect(try settings(other).isSameStore(as: settings(one)) == isSame)
  }
}
