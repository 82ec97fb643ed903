import TestSupport

@testable import EncryptedFileStore

/// What a killed writer leaves, and how the next writer recovers.
@Suite(.timeLimit(.minutes(20)))
struct KilledWriterTests {
  private let old = SampleToken("old", account: 1)
  private let new = SampleToken("new", account: 1)
  private let other = SampleToken("other", account: 2)

  /// The files of a group before and after one save.
  private func fixture() async throws -> (Fixture, before: [String: [UInt8]], after: [String: [UInt8]]) {
    let fixture = try await Fixture(saving: old, other)
    let before = try fixture.files()
    try await fixture.cache.save(new)
    return (fixture, before, try fixture.files())
  }

  @Test(.requirement("R12.11"), arguments: [true, false])
  func `A writer killed before the manifest was in place saved everything`(readFirst: Bool) async throws {
    let (fixture, before, after) = try await fixture()
    try fixture.put(after)
    try fixture.put([
      "manifest.sealed": try #require(before["manifest.sealed"]),
      "manifest.sealed.new": try #require(after["manifest.sealed"]),
    ])
    let cache = fixture.otherCache()
    if readFirst { #expect(try await cache.finds(new)) }
    try await cache.save(SampleToken("next", account: 2))
    #expect(try await cache.finds(new))
    #expect(try await fixture.problems(cache).isEmpty)
  }

  @Test func `A writer killed while it removed everything leaves nothing missing`() async throws {
    let (fixture, _, before) = try await fixture()
    _ = try await fixture.store.remove(.everything, in: fixture.group)
    let after = try fixture.files()
    try fixture.put(before)
    try fixture.remove(fixture.path(new))
    try fixture.put(["manifest.sealed.new": try #require(after["manifest.sealed"])])
    let contents = try await fixture.otherStore().read(.all, in: fixture.group)
    #expect(contents.problems.isEmpty)
    #expect(contents.documents[fixture.shard(new)] == nil && !contents.documents.isEmpty)
  }

  @Test func `A writer killed in the group's first write leaves a usable group`() async throws {
    let fixture = try await Fixture(saving: old)
    let manifest = try fixture.bytes(fixture.manifest)
    let common = try #require(
      try fixture.files().keys.first { $0 != "manifest.sealed" && $0 != "\(fixture.shard(old)).sealed" })
    // The first write may have come as far as one of two files.
    try fixture.remove(fixture.manifest)
    try fixture.remove(fixture.path(old))
    try fixture.put(["manifest.sealed.new": manifest])
    let cache = fixture.otherCache()
    let contents = try await cache.store.read(.all, in: fixture.group)
    #expect(contents.problems.isEmpty)
    #expect(contents.documents.keys.map { "\($0).sealed" } == [common])
    try await cache.save(old)
    #expect(try await fixture.cache.finds(old))
  }

  @Test(.fault("rekey killed"))
  func `An unfinished manifest of an earlier write is ignored`() async throws {
    let (fixture, before, _) = try await fixture()
    try fixture.put(["manifest.sealed.new": try #require(before["manifest.sealed"]), "notes.new": [1]])
    let cache = fixture.otherCache()
    try await cache.save(SampleToken("next", account: 2))
    #expect(try await cache.finds(new))
    // A foreign file is left, whatever its name is.
    #expect(try fixture.files()["notes.new"] == [1])
    #expect(try await fixture.problems(cache).map(\.kind) == [.foreign])
  }

  @Test func `Memory is not trusted during a write or after a writer died, and again after the next write`()
    async throws
  {
    let fixture = try await Fixture(saving: old)
    let before = try #require(fixture.store.generation(of: fixture.group))
    let file = try SharedLockFile(directory: fixture.groupPath, name: "lock")
    try file.lock()
    file.beginWrite()
    file.unlock()
    #expect(fixture.store.generation(of: fixture.group) == nil)
    try await fixture.otherCache().save(new)
    let after = try #require(fixture.store.generation(of: fixture.group))
    #expect(after > before)
    #expect(try await fixture.cache.finds(new))
  }
}

extension Fixture {
  /// The group's files without the lock file.
  func files() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: groupPath) where name != "lock" {
      files[name] = try bytes("\(groupPath)/\(name)")
    }
    return files
  }

  func put(_ files: [String: [UInt8]]) throws {
    for (name, bytes) in files { try write(bytes, to: "\(groupPath)/\(name)") }
  }
}
