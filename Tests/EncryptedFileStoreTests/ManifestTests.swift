import Sealing
import TestSupport

@testable import EncryptedFileStore

/// A manifest that is lost, damaged or old.
@Suite(.timeLimit(.minutes(20)))
struct ManifestTests {
  private let one = SampleToken("one", account: 1)
  private let two = SampleToken("two", account: 2)
  private let new = SampleToken("new", account: 3)

  private let fixture: Fixture
  private let older: [UInt8]

  init() async throws {
    let saved = try await TwiceSaved(one, two)
    (fixture, older) = (saved.fixture, saved.older)
  }

  typealias Change = @Sendable (Fixture) throws -> Void

  static let losses: [Named<Change>] = [
    Named("removed", { try $0.remove($0.manifest) }),
    Named("emptied", { try $0.write([], to: $0.manifest) }),
    Named("damaged", { try $0.change($0.manifest) { $0[100] ^= 1 } }),
    Named("forged", { try $0.forge($0.manifest) { $0[100] ^= 1 } }),
    Named(
      "another file's", { try $0.write(try $0.bytes($0.path(SampleToken("", account: 1))), to: $0.manifest) }),
    Named("cut entries", { try $0.reseal { $0.removeLast() } }),
    Named("unsorted", { try $0.reseal { $0 = Array($0[24...] + $0[..<24]) } }),
    Named("double entries", { try $0.reseal { $0 = $0[..<24] + $0 } }),
    Named("an absurd number", { try $0.reseal(sequence: 1 << 63) }),
  ]

  @Test(.fault("manifest"), arguments: losses)
  func `Without a valid manifest nothing is read or written until the user accepts the files`(
    _ loss: Named<Change>
  ) async throws {
    try loss.value(fixture)
    let files = try fixture.files()
    let cache = fixture.otherCache()
    let contents = try await cache.store.read(.all, in: fixture.group)
    #expect(contents.documents.isEmpty)
    #expect(contents.problems.count == 1)
    let problem = try #require(contents.problems.first)
    #expect(problem.shard == nil)
    #expect(problem.detail.contains("manifest.sealed") && problem.detail.hasSuffix("files are current."))
    for token in [one, two, new] {
      await expectCacheError(.damaged) { try await cache.finds(token) }
      let error = await expectCacheError(.damaged) { try await cache.save(token) }
      #expect(error?.advice?.contains("a backup of the whole group") == true)
      #expect(error?.remedy == .acceptance)
    }
    #expect(try fixture.files() == files)

    // What opens is kept.
    #expect(try await cache.store.remove(.damaged, in: fixture.group) == 1)
    #expect(Set(try fixture.files().keys) == Set(files.keys).union(["manifest.sealed"]))
    #expect(try await fixture.problems(cache).isEmpty)
    try await cache.save(new)
    for token in [one, two, new] { #expect(try await fixture.otherCache().finds(token)) }
  }

  @Test(.fault("manifest"), arguments: losses)
  func `A damaged manifest is removed with everything, even if it is the last file`(
    _ loss: Named<Change>
  ) async throws {
    try loss.value(fixture)
    for token in [one, two] { try fixture.remove(fixture.path(token)) }
    for file in try fixture.files().keys where file.hasSuffix(".sealed") && file != "manifest.sealed" {
      try fixture.remove(fixture.groupPath + "/" + file)
    }
    _ = try await fixture.store.remove(.everything, in: fixture.group)
    try await fixture.otherCache().save(new)
    #expect(try await fixture.otherCache().finds(new))
  }

  @Test(.requirement("R12.17"), .fault("manifest"))
  func `Nothing is repaired without a manifest while a file has a later version`() async throws {
    try fixture.forge(fixture.path(two)) { $0[11] = 2 }
    try fixture.remove(fixture.manifest)
    let files = try fixture.files()
    await expectCacheError(.newerVersion) { try await fixture.store.remove(.damaged, in: fixture.group) }
    #expect(try fixture.files() == files)
  }

  /// R12.17
  @Test(
    .requirement("R12.17"), .fault("late manifest"),
    arguments: [(11, CacheError.Code.newerVersion), (20, .wrongKey)])
  func `A manifest of another version or key is never replaced, only removed with everything`(
    _ offset: Int, _ code: CacheError.Code
  ) async throws {
    try fixture.forge(fixture.manifest) { $0[offset] ^= 2 }
    let files = try fixture.files()
    await expectCacheError(code) { try await fixture.store.remove(.damaged, in: fixture.group) }
    #expect(try fixture.files() == files)
    _ = try await fixture.store.remove(.everything, in: fixture.group)
    try await fixture.otherCache().save(new)
  }

  @Test(.fault("directory"), arguments: [Removal.damaged, .everything], [true, false])
  func `A directory in a file's place is removed, or renamed with its contents`(
    _ removal: Removal, isEmpty: Bool
  ) async throws {
    for isManifest in [false, true] {
      let fixture = try await TwiceSaved(one, two).fixture
      let path = isManifest ? fixture.manifest : fixture.path(one)
      try fixture.remove(path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      if !isEmpty { try fixture.write([1], to: path + "/theirs") }
      let store = fixture.otherStore()
      let removed = try await store.remove(removal, in: fixture.group)
      #expect(removed == (removal == .everything ? 3 : 1))
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.groupPath)
      let aside = names.filter { $0.contains(".sealed.aside-") }
      #expect(aside.count == (isEmpty ? 0 : 1), "\(names)")
      for name in aside { #expect(try fixture.bytes("\(fixture.groupPath)/\(name)/theirs") == [1]) }
      #expect(
        try await store.read(.all, in: fixture.group).problems.map(\.kind) == aside.map { _ in .foreign })
      try await fixture.otherCache().save(new)
      #expect(try await fixture.otherCache().finds(new))
      #expect(try await fixture.otherCache().finds(two) == (removal == .damaged))
    }
  }

  @Test(.fault("manifest"), .enabled(if: geteuid() == 0, "only root can mount something"))
  func `A name that cannot be removed keeps nothing else`() async throws {
    let path = fixture.path(ShardID(rawValue: String(repeating: "0", count: 32)))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    guard mount("tmpfs", path, "tmpfs", 0, nil) == 0 else {
      throw SetUpFailure("mount at \(path): \(String(cString: strerror(errno)))")
    }
    defer { umount2(path, Int32(MNT_DETACH)) }
    let error = await expectCacheError(.unavailable) {
      try await fixture.store.remove(.everything, in: fixture.group)
    }
    #expect(error?.message.contains("may or may not have been applied") == true)
    for token in [one, two] { #expect(fixture.contents(fixture.path(token)) == nil) }
  }

  @Test(.fault("older file"), arguments: [true, false])
  func `An older file is not accepted when the manifest is missing`(isEmptied: Bool) async throws {
    try fixture.write(older, to: fixture.path(one))
    if isEmptied { try fixture.write([], to: fixture.manifest) } else { try fixture.remove(fixture.manifest) }
    let cache = fixture.otherCache()
    await expectCacheError(.damaged) { try await cache.finds(SampleToken("before", account: 1)) }
    #expect(try await !cache.store.read(.all, in: fixture.group).problems.isEmpty)
  }

  @Test(.fault("older file"))
  func `A file from before the group was deleted is reported as older`() async throws {
    let fixture = try await Fixture(saving: one)
    let older = try fixture.bytes(fixture.path(one))
    try fixture.remove(fixture.groupPath)
    let cache = fixture.otherCache()
    try await cache.save(SampleToken("later", account: 1))
    try fixture.write(older, to: fixture.path(one))
    let problems = try await fixture.otherStore().read(.all, in: fixture.group).problems
    #expect(problems.map(\.kind) == [.rolledBack])
  }

  @Test(.fault("older file"), arguments: losses, [Removal.damaged, .everything])
  func `No number is used again after the manifest was lost`(
    _ loss: Named<Change>, _ removal: Removal
  ) async throws {
    let fixture = try await Fixture(saving: SampleToken("first", account: 1))
    let older = try fixture.bytes(fixture.path(one))
    for name in ["second", "third"] { try await fixture.cache.save(SampleToken(name, account: 1)) }
    let kept = try fixture.bytes(fixture.path(one))
    try fixture.write(older, to: fixture.path(one))
    try loss.value(fixture)
    _ = try await fixture.store.remove(removal, in: fixture.group)
    for number in 0..<4 {
      try await fixture.otherCache().save(SampleToken("later-\(number)", account: 1))
      let current = try fixture.bytes(fixture.path(one))
      try fixture.write(kept, to: fixture.path(one))
      let problems = try await fixture.otherStore().read(.all, in: fixture.group).problems
      #expect(problems.map(\.kind) == [.rolledBack])
      try fixture.write(current, to: fixture.path(one))
    }
  }

  @Test(.fault("older manifest"))
  func `Nothing is written while a file is newer than a manifest that does not name it`() async throws {
    let manifest = try fixture.bytes(fixture.manifest)
    try await fixture.cache.save(new)
    try fixture.write(manifest, to: fixture.manifest)
    let cache = fixture.otherCache()
    for _ in 0..<2 { await expectCacheError(.rolledBack) { try await cache.save(one) } }
    #expect(try await fixture.problems(cache).map(\.remedy) == [.acceptance])
    #expect(try await cache.store.remove(.damaged, in: fixture.group) == 1)
    try await cache.save(one)
    for token in [one, two, new] { #expect(try await fixture.otherCache().finds(token)) }
  }

  @Test(.fault("manifest"))
  func `A first write that was killed beside a foreign file is left for the user to accept`()
    async throws
  {
    let manifest = try fixture.bytes(fixture.manifest)
    try await fixture.cache.save(new)
    // Not the manifest of what is there.
    try fixture.remove(fixture.manifest)
    try fixture.put(["manifest.sealed.new": manifest])
    let cache = fixture.otherCache()
    await expectCacheError(.damaged) { try await cache.save(one) }
    #expect(try await cache.store.remove(.damaged, in: fixture.group) == 1)
    for token in [one, two, new] { #expect(try await cache.finds(token)) }
  }
}

extension Fixture {
  /// Seals a shard's file or, without one, the manifest again, as another program could that has the key.
  func reseal(
    _ shard: ShardID? = nil, sequence: UInt64? = nil, _ change: (inout [UInt8]) -> Void = { _ in }
  ) throws {
    let file = try bytes(keys)
    let keys = try SealedKeys.open(file, with: SealedKeys.Header(file).key(from: bytes(directory + "/key")))
    let identity = SealedFormat.Identity(group: group, name: shard?.bytes ?? Manifest.name)
    let path = shard.map { self.path($0) } ?? manifest
    let opened = try SealedFormat.open(bytes(path), as: identity, with: keys)
    var contents = Array(opened.contents)
    change(&contents)
    try write(
      contents.withUnsafeBytes {
        SealedFormat.seal($0, as: identity, sequence: sequence ?? opened.sequence, with: keys.current)
      }, to: path)
  }
}
