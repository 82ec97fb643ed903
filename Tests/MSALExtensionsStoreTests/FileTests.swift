import TestSupport

@testable import MSALExtensionsStore

/// A plaintext file that another program shares.
struct FileTests {
  private let directory: TemporaryDirectory
  private let path: String
  private static let theirs = """
    {"RefreshToken": {"1.t-host-refreshtoken-c--": {"credential_type": "RefreshToken", "secret": "rt",
      "home_account_id": "1.t", "environment": "host", "client_id": "c"}}}
    """

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/cache.json"
  }

  private func store(lockTimeout: Duration) -> MSALExtensionsCacheStore {
    let peer = PeerCache(
      name: "peer", users: "Peer", place: .file(path), encoding: .json, signals: [.init(path)])
    return MSALExtensionsCacheStore(peer, lockTimeout: lockTimeout)
  }

  private func tokens(lockTimeout: Duration) async throws -> Int {
    let store = store(lockTimeout: lockTimeout)
    return try await store.read(.all, in: store.group).documents.values.map(\.credentials.count).reduce(0, +)
  }

  @Test(
    .fault("half written"), arguments: [Named("empty", 0), Named("half of it", FileTests.theirs.count / 2)])
  func `A file that its program is writing is waited for`(_ count: Named<Int>) async throws {
    try directory.file("cache.json", Self.theirs)
    let whole = try await tokens(lockTimeout: .zero)
    #expect(whole > 0)
    let writer = try Child("sleep", ["600"])
    defer { writer.end() }
    try directory.file("cache.json.lockfile", "\(writer.pid) peer.py")
    #expect(try await tokens(lockTimeout: .zero) == whole)
    try directory.file("cache.json", String(Self.theirs.prefix(count.value)))
    await #expect(throws: CacheError(.timedOut, "")) { try await tokens(lockTimeout: .zero) }
    async let found = tokens(lockTimeout: .seconds(300))
    try directory.file("cache.json", Self.theirs)
    unlink(path + ".lockfile")
    #expect(try await found == whole)
  }

  @Test func `A change takes its lock once, also where the file is missing or damaged`() async throws {
    let store = store(lockTimeout: .zero)
    let cache = TokenCacheAccessor(store: store, group: store.group)
    try await cache.save(SampleToken("one", account: 1))
    #expect(try await cache.finds(SampleToken("one", account: 1)))
    try directory.file("cache.json", String(Self.theirs.prefix(20)))
    await expectCacheError(.damaged) { try await cache.save(SampleToken("two", account: 1)) }
  }

  @Test func `A change whose lock file is removed begins again twice, and writes nothing`() async throws {
    let store = store(lockTimeout: .zero)
    let lock = path + ".lockfile"
    let calls = Mutex(0)
    let error = await expectCacheError(.unavailable) {
      try await store.updateDocument { document in
        calls.withLock { $0 += 1 }
        document.otherSections["mine"] = "new"
        unlink(lock)
      }
    }
    #expect(error?.message.contains("keeps removing") == true)
    #expect(error?.message.contains("may or may not") == false)
    #expect(calls.withLock(\.self) == 3)
    #expect(try directory.contents("cache.json").isEmpty)
  }

  @Test func `An update that changes nothing writes nothing`() async throws {
    let file = try directory.file("cache.json", Self.theirs)
    try await store(lockTimeout: .zero).updateDocument { _ in }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.theirs)
  }

  @Test func `A file that its group may write is read`() async throws {
    chmod(try directory.file("cache.json", Self.theirs), 0o664)
    #expect(try await tokens(lockTimeout: .zero) > 0)
  }

  /// A file for each moment of the removal, since only chance decides when the other program renames its own.
  @Test(.fault("adopt replaced"))
  func `A cache that is renamed into the place of an adopted one stays`() async throws {
    let document = try CacheDocument(json: Data(Self.theirs.utf8))
    for number in 0..<300 {
      try directory.file("cache.json", Self.theirs)
      let new = try directory.file("new.json", Self.theirs.replacing("rt", with: "new"))
      let store = MSALExtensionsCacheStore(.file(path))
      async let isRemoved = store.discardPlaintext(holding: document)
      for _ in 0..<number { sched_yield() }
      #expect(rename(new, path) == 0)
      _ = try await isRemoved
      try #require(String(contentsOfFile: path, encoding: .utf8).contains("new"), "\(number)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["cache.json"])
    }
  }

  @Test(.fault("adopt replaced"), arguments: [true, false])
  func `A file that is removed while another takes its name is not lost`(isRight: Bool) throws {
    try directory.file("cache.json", "old")
    let new = try directory.file("new.json", "new")
    let outcome = Result {
      try FileContents.discard(path) {
        #expect(String(decoding: $0, as: UTF8.self) == "old")
        #expect(rename(new, path) == 0)
        return isRight
      }
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
    if isRight {
      #expect(try outcome.get())
    } else {
      let error = #expect(throws: CacheError(.unavailable, "")) { try outcome.get() }
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      let aside = try #require(names.first { $0 != "cache.json" })
      #expect(error?.message.contains(aside) == true)
      #expect(try String(contentsOfFile: "\(directory.path)/\(aside)", encoding: .utf8) == "old")
    }
  }

  @Test func `What is no file is not removed, and keeps its name`() throws {
    #expect(try !FileContents.discard(path) { _ in true })
    try FileContents.remove(path)
    // A directory has no hard links, as every file on some file systems.
    mkdir(path, 0o700)
    let error = #expect(throws: CacheError(.unavailable, "")) {
      try FileContents.discard(path) { _ in true }
    }
    #expect(error?.message.contains("put back") == false)
    #expect(throws: CacheError(.unavailable, "")) { try FileContents.remove(path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["cache.json"])
  }

  @Test func `A file whose time is ahead gets the next later one`() throws {
    try directory.file("cache.json")
    let seconds = time(nil) + 1000
    let last = timespec(tv_sec: seconds, tv_nsec: 999_999_998)
    #expect(utimensat(AT_FDCWD, path, [last, last], 0) == 0)
    for (second, nanosecond) in [(seconds, 999_999_999), (seconds + 1, 0)] {
      try FileContents.touch(.init(path))
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mtim.tv_sec == second && status.st_mtim.tv_nsec == nanosecond)
    }
  }

  @Test func `A cache that is a symbolic link is written and removed in its target's place`() async throws {
    let target = try directory.file("real.json", Self.theirs)
    #expect(symlink("real.json", path) == 0)
    let store = MSALExtensionsCacheStore(.file(path))
    let document = try await store.contents().document
    #expect(try await store.discardPlaintext(holding: document))
    #expect(access(target, F_OK) != 0)

    // The link names nothing now.
    try await store.updateDocument { $0 = document }
    #expect(access(target, F_OK) == 0)
    #expect(try await store.remove(.everything, in: store.group) == 1)
    #expect(access(target, F_OK) != 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "real.json")
    // Such a file may be the one by whose time programs see a change of another cache.
    try FileContents.touch(.init(path))
    #expect(access(target, F_OK) == 0)
    // Where no file can be made, the error says why.
    let error = #expect(throws: CacheError(.unavailable, "")) {
      try FileContents.touch(.init("/sys/llavero"))
    }
    #expect(error?.message.contains("No such file") == false)

    unlink(path)
    #expect(symlink("unmounted/real.json", path) == 0)
    await expectCacheError(.unavailable) { try await store.updateDocument { $0 = document } }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "unmounted/real.json")
    #expect(access(directory.path + "/unmounted", F_OK) != 0)
  }
}
