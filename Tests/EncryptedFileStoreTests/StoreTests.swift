import EncryptedFileStore
import Sealing
import StoreSupport
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct StoreTests {
  private let one = SampleToken("one", account: 1)
  private let two = SampleToken("two", account: 2)
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test func `Reading a missing group makes no file`() async throws {
    let store = fixture.otherStore(key: .keyFile(path: "/proc/nonexistent"))
    #expect(try await store.read(.all, in: fixture.group).documents.isEmpty)
    #expect(try await store.remove(.everything, in: fixture.group) == 0)
    #expect(store.generation(of: fixture.group) == nil)
    await expectCacheError(.unavailable) { try await fixture.accessor(on: store).save(one) }
    #expect(!fixture.isThere(fixture.groupPath))
    #expect(!fixture.isThere(fixture.keys))

    // Nor if the store exists, with another group.
    try await fixture.otherGroup(on: fixture.store).save(one)
    #expect(try await fixture.store.read(.all, in: fixture.group).documents.isEmpty)
    #expect(try await fixture.store.remove(.everything, in: fixture.group) == 0)
    #expect(fixture.store.generation(of: fixture.group) == nil)
    #expect(!fixture.isThere(fixture.groupPath))
  }

  @Test func `The counter of a group is unknown until the first read, and asking for it opens no file`()
    async throws
  {
    let fixture = try await Fixture(saving: one)
    try fixture.remove(fixture.groupPath + "/lock")
    let store = fixture.otherStore()
    #expect(store.generation(of: fixture.group) == nil)
    #expect(!fixture.isThere(fixture.groupPath + "/lock"))
    #expect(try await store.read(.all, in: fixture.group).problems.isEmpty)
    #expect(store.generation(of: fixture.group) != nil)
  }

  @Test(.requirement("R12.1")) func `Files are 0600, directories 0700, and their contents unreadable`()
    async throws
  {
    // By another process: the mask counts for all threads of one.
    let command = ["sh", "-c", #"umask 0; exec "$0" "$@""#, Worker.program]
    let worker = try Worker(
      command + ["save", fixture.group.name, "one", "1", "1"], environment: fixture.environment)
    let (saved, status) = await worker.finish()
    try #require(status == 0 && saved.count == 1)
    let one = SampleToken(saved[0], account: 0)
    #expect(try await fixture.cache.finds(one))
    let names = try FileManager.default.subpathsOfDirectory(atPath: fixture.directory + "/data")
    #expect(names.count == 10)
    for name in names {
      var status = stat()
      #expect(lstat("\(fixture.directory)/data/\(name)", &status) == 0)
      let isDirectory = status.st_mode & S_IFMT == S_IFDIR
      #expect(status.st_mode & 0o777 == (isDirectory ? 0o700 : 0o600), "\(name)")
      guard !isDirectory else { continue }
      let text = String(decoding: try fixture.bytes("\(fixture.directory)/data/\(name)"), as: UTF8.self)
      for secret in [one.accessToken, one.refreshToken, one.username, one.homeAccountID, "AccessToken"] {
        #expect(!text.contains(secret))
      }
    }
  }

  @Test func `The size of a file reveals little of its contents`() async throws {
    var sizes: Set<Int> = []
    for number in 0..<12 {
      try await fixture.cache.save(SampleToken("t\(number)", account: 1))
      sizes.insert(try fixture.bytes(fixture.path(one)).count - 116)
    }
    #expect(sizes == [4096, 8192, 16384])
  }

  @Test(.requirement("R12.9")) func `The same contents are sealed with another nonce each time`() async throws
  {
    var nonces: Set<[UInt8]> = []
    for _ in 0..<3 {
      try await fixture.cache.save(one)
      nonces.insert(Array(try fixture.bytes(fixture.path(one))[72..<84]))
      try await fixture.cache.removeAccount(one.homeAccountID)
    }
    #expect(nonces.count == 3)
  }

  @Test(.fault("too deep"))
  func `An import beyond a reader's limits is refused, and the contents stay`() async throws {
    func cache(_ name: String) -> CacheDocument {
      var document = CacheDocument()
      document.otherSections[name] = .array(Array(repeating: .null, count: 600_000))
      return document
    }
    _ = try await fixture.cache.import(cache("one"))
    await expectCacheError(.tooLarge) { try await fixture.cache.import(cache("two")) }
    #expect(try await fixture.otherCache().snapshot().document == cache("one"))
  }

  @Test(arguments: [50: 1, 51: 2])
  func `An import writes the manifest once for fifty accounts`(_ count: Int, _ writes: UInt64) async throws {
    try await fixture.cache.save(one)
    let before = try fixture.manifestSequence
    let cache = try importable(count)
    #expect(try await fixture.cache.import(cache) == ImportSummary(saved: count))
    #expect(try fixture.manifestSequence == before + writes)
    #expect(try await fixture.otherCache().snapshot().document.accounts.count == count + 1)
    #expect(try await fixture.cache.import(cache) == ImportSummary(kept: count))
    #expect(try fixture.manifestSequence == before + writes)
  }

  @Test(.fault("manifest"))
  func `An account that cannot be saved does not keep the others from being imported`() async throws {
    let cache = try importable(5)
    _ = try await fixture.cache.import(cache)
    _ = try await fixture.cache.clear()
    let shards = cache.split(in: fixture.group).map(\.shard)
    try await fixture.store.write(1, to: [3], of: fixture)
    try fixture.damage(shards[3])
    await expectCacheError(.damaged) { try await fixture.cache.import(cache) }
    #expect(
      Set(try await fixture.otherStore().read(.all, in: fixture.group).documents.keys)
        == Set(shards).subtracting([shards[3]]))
  }

  /// A cache of accounts, in the order of their numbers.
  private func importable(_ count: Int) throws -> CacheDocument {
    CacheDocument(union: try (0..<count).map { try fixture.document(account: $0, number: 1) })
  }

  @Test(arguments: ["../escape", "", "8308B012827002C155F91EC7E7FDAC05", "8308b012"])
  func `A name that is no shard's id never becomes a file name`(_ name: String) async throws {
    let shard = ShardID(rawValue: name)
    #expect(try await fixture.store.read(.some([shard]), in: fixture.group).documents.isEmpty)
    await expectCacheError(.refused) {
      try await fixture.store.update([shard], in: fixture.group) { $0[shard].otherSections = ["a": "b"] }
    }
  }

  @Test func `Without XDG_DATA_HOME the files are in the home directory, without both it is an error`()
    async throws
  {
    let atHome = fixture.otherStore(environment: ["XDG_DATA_HOME": "relative/is/ignored"])
    try await fixture.accessor(on: atHome).save(one)
    #expect(fixture.isThere(fixture.directory + "/.local/share/llavero/sealed/keys"))
    let nowhere = fixture.otherStore(environment: ["XDG_DATA_HOME": "", "HOME": ""])
    let error = await expectCacheError(.unavailable) { try await nowhere.groups() }
    #expect(error?.advice?.contains("XDG_DATA_HOME") == true)
  }

  @Test(.requirement("R12.1")) func `A directory that others may enter, or a link to one, is refused`()
    async throws
  {
    let fixture = try await Fixture(saving: one)
    chmod(fixture.groupPath, 0o755)
    let error = await expectCacheError(.unavailable) { try await fixture.store.read(.all, in: fixture.group) }
    #expect(error?.advice?.contains("chmod go= \(fixture.groupPath)") == true)
    #expect(error?.advice?.contains("dir_mode=0700,file_mode=0600") == true)
    chmod(fixture.groupPath, 0o700)
    #expect(rename(fixture.groupPath, fixture.directory + "/moved") == 0)
    #expect(symlink(fixture.directory + "/moved", fixture.groupPath) == 0)
    await expectCacheError(.unavailable) { try await fixture.otherCache().save(two) }
  }

  @Test(
    arguments: [
      (ENOSPC, "df -h"), (ENOLCK, "findmnt"), (EROFS, "findmnt"), (EACCES, "Set DATA"), (EMFILE, "ulimit -n"),
      (ENFILE, "ulimit -n"), (EIO, "journalctl -k"), (ESTALE, "Try again."), (ENOENT, "Set DATA"),
      (ENOTDIR, "Set DATA"), (ELOOP, "Set DATA"), (EINVAL, nil),
    ] as [(Int32, String?)])
  func `The advice for a file that cannot be used fits the error`(_ code: Int32, _ advice: String?) {
    let cause = PrivateFileError.system(call: "open", path: "/data/file", code: code)
    let error = CacheError(cause, "The file store cannot be read.", variable: "DATA")
    if let advice {
      #expect(error.advice?.contains(advice) == true)
    } else {
      #expect(error.advice == nil)
    }
  }

  @Test(arguments: [("/", "DATA"), ("/data/file", nil)] as [(String, String?)])
  func `A file that may not be opened must belong to the user unless it is missing elsewhere`(
    path: String, variable: String?
  ) {
    let cause = PrivateFileError.system(call: "open", path: path, code: EACCES)
    let error = CacheError(cause, "The file store cannot be read.", variable: variable)
    #expect(error.advice?.contains("it must belong to you") == true)
  }

  @Test(.fault("group open")) func `A group that others may enter hides no other`() async throws {
    let other = try KeychainGroup("org.example.other")
    for cache in [fixture.cache, try fixture.otherGroup(on: fixture.store)] { try await cache.save(one) }
    chmod(fixture.groupPath, 0o755)
    let store = fixture.otherStore()
    #expect(try await store.groups() == [other, fixture.group])
    #expect(try await fixture.otherGroup(on: store).finds(one))
    await expectCacheError(.unavailable) { try await store.read(.all, in: fixture.group) }
    // No new key is made for an unreadable group.
    try fixture.remove(fixture.keys)
    await #expect(throws: CacheError.self) {
      try await fixture.otherGroup(on: fixture.otherStore()).save(two)
    }
    #expect(!fixture.isThere(fixture.keys))
  }

  @Test(.enabled(if: access("/usr/bin/strace", X_OK) == 0, "strace is not installed"))
  func `New directories are on the disk when the first save ends`() async throws {
    let fixture = try Fixture()
    let trace = fixture.directory + "/trace"
    // A sanitizer cannot look for leaks in a process that is traced.
    let environment = fixture.environment.merging(["ASAN_OPTIONS": "detect_leaks=0"]) { $1 }
    let result = try await Child.runApart(
      "strace",
      [
        "-f", "-y", "-qq", "-e", "trace=?mkdir,mkdirat,fsync", "-o", trace, Worker.program, "save",
        fixture.group.name, "saved", "1", "1",
      ], environment: environment)
    #expect(result.status == 0, "\(result.standardError)")
    let calls = try String(decoding: fixture.bytes(trace), as: UTF8.self).split(separator: "\n")
    let made = calls.indices.filter { calls[$0].contains("mkdir") && calls[$0].hasSuffix(" = 0") }
    // "data", "llavero", "sealed", "groups" and the group's.
    #expect(made.count == 5)
    for index in made {
      let parent = parentDirectory(of: String(calls[index].split(separator: "\"")[1]))
      #expect(calls[index...].contains { $0.contains("fsync(") && $0.contains("<\(parent)>") })
    }
  }
}
