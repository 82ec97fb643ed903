import MSALExtensionsStore
import SecretService
import TestSupport

/// An item that another program shares.
@Suite(.timeLimit(.minutes(20)))
struct SharedItemTests {
  let directory: TemporaryDirectory
  let keyring: PrivateKeyring
  let client: SecretServiceClient
  /// One has a name that some providers give attributes of their own.
  let attributes = ["app": "test\(UInt64.random(in: 0 ... .max))", "UserName": "alice"]
  let location: String
  let store: MSALExtensionsCacheStore
  let cache: TokenCacheAccessor

  init() throws { try self.init(on: PrivateKeyring.shared.get()) }

  private init(on keyring: PrivateKeyring) throws {
    directory = try TemporaryDirectory()
    location = directory.path + "/peer/cache"
    self.keyring = keyring
    client = SecretServiceClient(busAddress: keyring.busAddress)
    store = MSALExtensionsCacheStore(
      .msalExtensions(location: location, schema: "com.example.test", attributes: attributes),
      timeout: .seconds(120), lockTimeout: .milliseconds(200),
      client: SecretServiceConnection(busAddress: keyring.busAddress))
    cache = TokenCacheAccessor(store: store)
  }

  private var allAttributes: [String: String] {
    attributes.merging(["xdg:schema": "com.example.test"]) { $1 }
  }

  private func create(_ payload: String, more: [String: String] = [:]) async throws {
    _ = try await client.create(
      label: "Theirs", attributes: allAttributes.merging(more) { $1 },
      secret: SecretBytes(copying: Array(payload.utf8)), in: client.collection().path)
  }

  /// The payloads of the items that have the attributes, and perhaps more.
  private func payloads() async throws -> [String] {
    let paths = try await client.search(attributes).unlocked
    return try await client.secrets(of: paths).values.map { secret in
      secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }.sorted()
  }

  private func save(_ name: String, account: String = "1") async throws {
    try await cache.save(
      TokenResponse(fields: [
        "access_token": .string("at-\(name)"), "refresh_token": .string("rt-\(name)"),
        "client_info": .string(Data(#"{"uid":"\#(account)","utid":"t"}"#.utf8).base64EncodedString()),
        "token_type": "Bearer", "expires_in": "3600", "scope": .string("api://\(name)"),
      ]), for: TokenRequest(environment: host, clientID: "c", realm: "t"))
  }

  private let host = "login.microsoftonline.com"
  private var theirs: String {
    """
    {"AccessToken": {}, "Custom": {"kept": [1, 2.50, null]},
     "RefreshToken": {"1.t-\(host)-refreshtoken-c--mail.read": {"credential_type": "RefreshToken",
       "secret": "rt-theirs", "home_account_id": "1.t", "environment": "\(host)", "client_id": "c",
       "target": "Mail.Read", "last_modification_time": 1767225600, "own": {"x": true}},
      "odd key": {"credential_type": "RefreshToken", "secret": "rt-other", "home_account_id": "2.t",
       "environment": "\(host)", "client_id": "d"}},
     "Account": {"1.t-\(host)-common": {"home_account_id": "1.t", "environment": "\(host)",
       "realm": "common", "username": "one@t.example", "authority_type": "MSSTS", "odd": "yes"}}}
    """
  }

  @Test func `A new item is made as the library makes it`()
    async throws
  {
    try await save("first")
    let path = try #require(await client.search(attributes).unlocked.first)
    let item = try await client.item(path)
    #expect(item.attributes == allAttributes)
    #expect(item.label == "")
    let json = try #require(await payloads().first)
    #expect(json.hasPrefix("{") && json.contains("rt-first"))
    var status = stat()
    #expect(stat(location, &status) == 0 && status.st_mode & 0o777 == 0o600 && status.st_size == 0)
    #expect(stat(directory.path + "/peer", &status) == 0 && status.st_mode & 0o777 == 0o700)
    #expect(access(location + ".lockfile", F_OK) != 0)
  }

  @Test(.fault("other host")) func `Other records are not changed, and new ones have their host`()
    async throws
  {
    try await create(theirs)
    let before = try CacheDocument(json: Data(theirs.utf8))
    #expect(try await cache.accounts().map(\.username) == ["one@t.example"])
    try await save("mine")
    let after = try CacheDocument(json: Data(#require(await payloads().first).utf8))
    #expect(after.otherSections["Custom"] == before.otherSections["Custom"])
    #expect(after.refreshTokens["odd key"] == before.refreshTokens["odd key"])
    // The key and what is not known stay; the secret is new, and the time a string.
    let token = try #require(after.refreshTokens["1.t-\(host)-refreshtoken-c--mail.read"])
    #expect(after.refreshTokens.count == 2)
    #expect(
      token.secret == "rt-mine"
        && token.fields["own"]
          == before.refreshTokens.values
          .first { $0.secret == "rt-theirs" }?.fields["own"]
    )
    #expect(token.fields["last_modification_time"]?.stringValue != nil)
    #expect(after.accounts["1.t-\(host)-common"]?.fields["odd"] == "yes")
    #expect(Array(after.accessTokens.keys) == ["1.t-\(host)-accesstoken-c-common-api://mine"])
  }

  @Test func `A sign-in by another program ends a sign-out`() async throws {
    try await create(theirs)
    try await cache.removeAccount("1.t", clientID: "c")
    #expect(try await cache.accounts(AccountFilter(clientID: "c")).isEmpty)
    let path = try #require(await client.search(attributes).unlocked.first)
    var later = try CacheDocument(json: Data(#require(await payloads().first).utf8))
    #expect(!later.accountMetadata.isEmpty)
    later.merge(try CacheDocument(json: Data(theirs.utf8)), in: CloudInstances([]))
    try await client.setSecret(SecretBytes(copying: Array(later.json())), of: path)
    #expect(try await cache.accounts(AccountFilter(clientID: "c")).map(\.username) == ["one@t.example"])
    try await cache.removeAccount("1.t", clientID: "c")
    #expect(try await cache.accounts(AccountFilter(clientID: "c")).isEmpty)
  }

  @Test func `An item is not discarded as a plaintext file is`() async throws {
    try await create(theirs)
    #expect(try await !store.discardPlaintext(holding: CacheDocument(json: Data(theirs.utf8))))
    #expect(try await payloads() == [theirs])
  }

  @Test(arguments: [
    ("\u{FEFF}", "", true), ("\n", " ", true), ("", "\u{FEFF} ", true), ("\u{FEFF}", " \n", false),
  ])
  func `The encoding that was found is kept`(before: String, inside: String, isBase64: Bool) async throws {
    let json = inside + theirs
    try await create(before + (isBase64 ? Data(json.utf8).base64EncodedString() : json))
    try await save("mine")
    let payload = try #require(await payloads().first)
    let hasMark = before == "\u{FEFF}"
    #expect(payload.hasPrefix("\u{FEFF}") == hasMark)
    let text = String(payload.dropFirst(hasMark ? 1 : 0))
    let after = try #require(isBase64 ? Data(base64Encoded: text) : Data(text.utf8))
    #expect(try CacheDocument(json: after).accessTokens.values.map(\.secret) == ["at-mine"])
  }

  @Test func `A private key that is there already keeps no change from being made`() async throws {
    try await create(#"{"PopKey": {"theirs": 1}}"#)
    let common = ShardID(homeAccountID: nil, group: .default)
    try await store.update([common], in: .default) { $0[common].otherSections["Mine"] = "new" }
    let after = try CacheDocument(json: Data(#require(await payloads().first).utf8))
    #expect(after.otherSections.keys.sorted() == ["Mine", "PopKey"])
  }

  @Test func `No time is written as a number`() async throws {
    try await create(theirs)
    try await save("mine", account: "9")
    #expect(try await payloads().first?.contains("\"1767225600\"") == true)
  }

  @Test func `Each change makes the signal file younger`() async throws {
    var last = timespec()
    for name in ["a", "b", "c"] {
      let begin = time(nil)
      try await save(name)
      var status = stat()
      #expect(stat(location, &status) == 0)
      #expect((last.tv_sec, last.tv_nsec) < (status.st_mtim.tv_sec, status.st_mtim.tv_nsec))
      // Later than a program that was reading meanwhile can have been done.
      #expect(status.st_mtim.tv_sec > begin)
      // As if another program's clock had been ahead.
      last = timespec(tv_sec: begin + 100, tv_nsec: 999_999_999)
      _ = utimensat(AT_FDCWD, location, [last, last], 0)
    }
  }

  @Test func `A change that cannot be signalled is not made`() async throws {
    try await create(theirs)
    mkdir(directory.path + "/peer", 0o700)
    #expect(mkdir(location, 0o700) == 0)
    let error = await expectCacheError(.unavailable) { try await save("mine") }
    #expect(error?.message.contains(location) == true)
    await expectCacheError(.unavailable) { try await store.remove(.everything, in: .default) }
    #expect(try await payloads() == [theirs])
    rmdir(location)
    try await save("mine")
    #expect(try await payloads() != [theirs])
  }

  @Test func `An unchanged cache is not written`() async throws {
    try await create(theirs)
    try await cache.removeExpired()
    _ = try await store.update([ShardID(homeAccountID: "1.t", group: .default)], in: .default) { $0.problems }
    #expect(try await payloads() == [theirs])
    #expect(access(location, F_OK) != 0)
  }

  @Test(arguments: [
    Named("no JSON", "nonsense"),
    Named("Base64 of something else", Data("nonsense".utf8).base64EncodedString()),
    Named("service principals", #"[{"client_id": "a", "client_secret": "s3cret"}]"#),
    Named("a section that is a list", #"{"AccessToken": []}"#), Named("half of it", #"{"AccessToken": {"#),
    Named(
      "sealed", "eyJhbGciOiJkaXIifQ..AxY8DCtDaGlsbGljb3RoZQ.KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY.x"),
  ])
  func `Unreadable contents are an error, and stay until they are removed`(_ payload: Named<String>)
    async throws
  {
    try await create(payload.value)
    do {
      try await save("mine")
      Issue.record("saved")
    } catch let error as CacheError {
      #expect(error.code == .damaged && error.advice != nil)
      #expect(!error.description.contains("s3cret"))
    }
    await expectCacheError(.damaged) { try await cache.accounts() }
    #expect(try await payloads() == [payload.value])
    #expect(try await store.remove(.damaged, in: .default) == 1)
    #expect(try await payloads().isEmpty)
  }

  @Test func `An empty item is an empty cache`() async throws {
    try await create("")
    #expect(try await cache.accounts().isEmpty)
    try await save("mine")
    #expect(try await payloads().count == 1)
  }

  @Test func `A signed-out account is no longer listed by the other programs`() async throws {
    try await create(theirs)
    try await cache.removeAccount("1.t", clientID: "c")
    let after = try CacheDocument(json: Data(#require(await payloads().first).utf8))
    #expect(after.accounts.isEmpty && Array(after.refreshTokens.keys) == ["odd key"])
  }

  @Test(arguments: [true, false], [true, false])
  func `Several items become one and lose nothing`(isExport: Bool, hasEmpty: Bool) async throws {
    let two = [theirs, theirs.replacing("2.t", with: "3.t").replacing("odd key", with: "other key")]
    let all = hasEmpty ? ["", two[0], "", two[1], ""] : two
    for payload in all { try await create(payload) }
    #expect(try await store.read(.all, in: .default).problems.map(\.kind) == [.duplicate])
    let copies = try await store.inspect().findings.first { $0.kind == .copies }
    #expect(copies?.detail.hasPrefix("\(all.count - 1) surplus items") == true)
    if isExport { try await store.updateDocument { _ in } } else { try await save("mine") }
    let payload = try #require(await payloads().first)
    #expect(try await payloads().count == 1)
    let tokens = try CacheDocument(json: Data(payload.utf8)).refreshTokens
    #expect(tokens.count == 3 && tokens["odd key"] != nil && tokens["other key"] != nil)
  }

  @Test func `An item with more attributes is another program's`() async throws {
    try await create(theirs, more: ["version": "2"])
    #expect(try await cache.accounts().isEmpty)
    try await save("mine")
    #expect(try await payloads().count == 2)
    #expect(try await payloads().contains(theirs))
  }

  @Test(.fault("locked")) func `An item of a keyring that was never unlocked is locked, not absent`()
    async throws
  {
    let keyring = try PrivateKeyring()
    func store() -> MSALExtensionsCacheStore {
      MSALExtensionsCacheStore(
        .msalExtensions(location: location, schema: "com.example.test", attributes: attributes),
        timeout: .seconds(120), client: SecretServiceConnection(busAddress: keyring.busAddress))
    }
    try await TokenCacheAccessor(store: store()).save(
      AppMetadata(clientID: "c", environment: host, familyID: nil))
    try keyring.restartDaemon(unlocked: false)
    await expectCacheError(.locked) { _ = try await store().read(.all, in: .default) }
  }

  @Test func `A cache in use is an error that names its user`() async throws {
    let holder = try Child("sleep", ["600"])
    mkdir(directory.path + "/peer", 0o700)
    _ = try directory.file("peer/cache.lockfile", "\(holder.pid) busy.py")
    do {
      try await save("mine")
      Issue.record("saved")
    } catch let error as CacheError {
      #expect(error.code == .timedOut && error.message.contains("process \(holder.pid) (busy.py)"))
    }
    #expect(try await payloads().isEmpty)
    holder.end()
    try await save("mine")
    #expect(try await payloads().count == 1)
  }

  @Test func `The group is the item, and other groups do not exist`() async throws {
    let other = try KeychainGroup("com.example.other")
    #expect(try await store.groups().isEmpty)
    try await save("mine")
    #expect(try await store.groups() == [.default])
    #expect(try await store.read(.all, in: other).documents.isEmpty)
    await expectCacheError(.invalidGroup) { try await store.remove(.everything, in: other) }
    #expect(try await store.remove(.damaged, in: .default) == 0)
    #expect(try await store.remove(.everything, in: .default) == 1)
    #expect(try await payloads().isEmpty)
  }

  @Test func `A keyring that asks before each new or deleted item is used with the permission to prompt`()
    async throws
  {
    let item = FakeService.collection + "/1"
    let exists = Atomic(false)
    let service = try FakeService([
      "SearchItems": .computed { _ in .found(exists.load(ordering: .relaxed) ? [item] : []) },
      "GetAll": .item(allAttributes), "GetSecrets": .secrets([item: .secret(Array("{}".utf8))]),
      "CreateItem": .computed { _ in
        exists.store(true, ordering: .relaxed)
        return .creationPrompt
      },
      "SetSecret": .reply([]),
      "Delete": .computed { _ in
        exists.store(false, ordering: .relaxed)
        return .removalPrompt
      },
      "Prompt": .completion(.objectPath(item)),
    ])
    let store = MSALExtensionsCacheStore(
      store.peer, prompt: .allowed(waitingUpTo: .seconds(120)), timeout: .seconds(120),
      client: SecretServiceConnection(busAddress: service.keyring.busAddress, allowsPlainSession: true))
    try await TokenCacheAccessor(store: store).save(SampleToken("one", account: 1))
    #expect(try await store.remove(.everything, in: .default) == 1)
    #expect(service.calls.count { $0 == "Prompt" } == 2)
  }

  @Test func `An export says that it may have been applied if the keyring did not answer after it was sent`()
    async throws
  {
    let service = try FakeService([
      "SearchItems": .reply([.objectPaths([]), .objectPaths([])]),
      "CreateItem": .error("org.freedesktop.DBus.Error.TimedOut"),
    ])
    let store = MSALExtensionsCacheStore(
      store.peer, timeout: .seconds(120),
      client: SecretServiceConnection(busAddress: service.keyring.busAddress, allowsPlainSession: true))
    let document = try CacheDocument(json: Data(theirs.utf8))
    let error = await #expect(throws: CacheError(.timedOut, "")) {
      try await store.updateDocument { $0 = document }
    }
    #expect(error?.message.contains("may or may not have been applied") == true)
  }

  @Test func `Ten thousand records survive a change`() async throws {
    var document = CacheDocument()
    for account in 0..<2000 {
      for number in 0..<5 {
        document.refreshTokens["key-\(account)-\(number)"] = Credential(
          type: .refreshToken, homeAccountID: "\(account).t", environment: host, clientID: "client\(number)",
          secret: "rt-\(account)-\(number)")
      }
    }
    // Its calls take so long that the shared keyring may end at a session of another test meanwhile.
    let alone = try Self(on: PrivateKeyring())
    try await alone.create(String(decoding: document.json(), as: UTF8.self))
    try await alone.save("mine", account: "77")
    let after = try CacheDocument(json: Data(#require(await alone.payloads().first).utf8))
    #expect(after.refreshTokens.count == 10_001)
    #expect(document.refreshTokens.allSatisfy { after.refreshTokens[$0.key] == $0.value })
  }
}
