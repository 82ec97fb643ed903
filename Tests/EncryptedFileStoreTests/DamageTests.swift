import Crypto
import EncryptedFileStore
import Sealing
import TestSupport

/// Damage to files, and how it is reported.
@Suite(.timeLimit(.minutes(20)))
struct DamageTests {
  private let hurt = SampleToken("hurt", account: 1)
  private let sound = SampleToken("sound", account: 2)

  private let fixture: Fixture
  private let older: [UInt8]

  init() async throws {
    let saved = try await TwiceSaved(hurt, sound)
    (fixture, older) = (saved.fixture, saved.older)
  }

  struct Fault: Sendable {
    let expected: SealError
    let code: CacheError.Code
    let kind: StoreProblem.Kind
    let change: @Sendable (Fixture, _ path: String, _ older: [UInt8]) throws -> Void
  }

  private static func fault(
    _ name: String, _ expected: SealError, code: CacheError.Code = .damaged,
    kind: StoreProblem.Kind = .damaged,
    change: @escaping @Sendable (Fixture, _ path: String, _ older: [UInt8]) throws -> Void
  ) -> Named<Fault> {
    Named(name, Fault(expected: expected, code: code, kind: kind, change: change))
  }

  /// A change of the bytes, by an attacker with knowledge of the format if it is on purpose.
  private static func changed(
    _ name: String, _ expected: SealError, code: CacheError.Code = .damaged,
    kind: StoreProblem.Kind = .damaged, onPurpose: Bool = false,
    _ change: @escaping @Sendable (inout [UInt8]) -> Void
  ) -> Named<Fault> {
    fault(name, expected, code: code, kind: kind) { fixture, path, _ in
      try onPurpose ? fixture.forge(path, change) : fixture.change(path, change)
    }
  }

  static let faults = [
    changed("emptied", .wrongLength(size: 0, expected: 116)) { $0 = [] },
    changed("truncated", .wrongLength(size: 16, expected: 4212)) { $0.removeLast($0.count - 16) },
    changed("as short as a file may be, on purpose", .forged, onPurpose: true) {
      $0.removeSubrange(116...)
      $0.replaceSubrange(12..<16, with: [0, 0, 0, 116])
    },
    changed("longer", .wrongLength(size: 4213, expected: 4212)) { $0.append(0) },
    changed("overwritten", .notSealed) { $0 = Array("{}".utf8) + .init(repeating: 0, count: 200) },
    changed("bit flipped", .corrupt) { $0[2000] ^= 1 },
    changed("bit flipped in the version", .corrupt) { $0[11] ^= 2 },
    changed("bit flipped in the key's id", .corrupt) { $0[20] ^= 1 },
    changed("changed on purpose", .forged, onPurpose: true) { $0[2000] ^= 1 },
    changed("sequence changed on purpose", .forged, onPurpose: true) { $0[71] += 1 },
    fault("an absurd sequence number", .unreadable("its sequence number is too great.")) { fixture, path, _ in
      try fixture.reseal(fixture.shard(SampleToken("", account: 1)), sequence: 1 << 63)
    },
    fault("another shard's", .misplaced) { fixture, path, _ in
      try fixture.write(try fixture.bytes(fixture.path(SampleToken("", account: 2))), to: path)
    },
    fault("another shard's, renamed inside", .forged) { fixture, path, _ in
      let name = try fixture.bytes(path)[32..<48]
      try fixture.write(try fixture.bytes(fixture.path(SampleToken("", account: 2))), to: path)
      try fixture.forge(path) { $0.replaceSubrange(32..<48, with: name) }
    },
    fault("a symbolic link", .notSealed) { fixture, path, _ in
      try fixture.remove(path)
      #expect(symlink("/etc/hostname", path) == 0)
    },
    changed("another key's", .unknownKey, code: .wrongKey, kind: .wrongKey, onPurpose: true) { $0[20] ^= 1 },
    changed("a later version's", .newerVersion(2), code: .newerVersion, kind: .newerVersion, onPurpose: true)
    { $0[11] = 2 },
    changed("version 0's", .newerVersion(0), code: .newerVersion, kind: .newerVersion, onPurpose: true) {
      $0[11] = 0
    },
    fault(
      "a later version's, shorter than any of this one", .newerVersion(2), code: .newerVersion,
      kind: .newerVersion
    ) {
      fixture, path, _ in
      try fixture.change(path) {
        $0 = Array("LLAVEROS".utf8) + [0, 0, 0, 2, 0, 0, 0, 32] + .init(repeating: 0, count: 16)
      }
      try fixture.forge(path) { _ in }
    },
    fault(
      "a later version's, longer than any of this one", .newerVersion(2), code: .newerVersion,
      kind: .newerVersion
    ) {
      fixture, path, _ in
      try fixture.change(path) { $0[11] = 2 }
      #expect(truncate(path, 70 << 20) == 0)
    },
    fault("this version's, shorter than any", .wrongLength(size: 32, expected: 116)) { fixture, path, _ in
      try fixture.change(path) {
        $0 = Array("LLAVEROS".utf8) + [0, 0, 0, 1, 0, 0, 0, 32] + .init(repeating: 0, count: 16)
      }
      try fixture.forge(path) { _ in }
    },
    fault("too long", .corrupt) { fixture, path, _ in #expect(truncate(path, 70 << 20) == 0) },
    fault("an older version of itself", .rolledBack, code: .rolledBack, kind: .rolledBack) {
      fixture, path, older in try fixture.write(older, to: path)
    },
  ]

  @Test(.requirement("R12.7", "R12.16"), .fault("version 0", "absurd number"), arguments: faults)
  func `A changed file is reported by kind, affects no other file, and is not overwritten`(
    _ fault: Named<Fault>
  ) async throws {
    let path = fixture.path(hurt)
    try fault.value.change(fixture, path, older)
    let changed = fixture.contents(path)

    let cache = fixture.otherCache()
    let contents = try await cache.store.read(.all, in: fixture.group)
    #expect(contents.problems.map(\.kind) == [fault.value.kind])
    #expect(contents.problems.first?.shard == fixture.shard(hurt))
    #expect(contents.problems.first?.detail.contains(fault.value.expected.description) == true)
    #expect(Set(contents.documents.keys).count == 2)
    #expect(try await cache.finds(sound))
    await expectCacheError(fault.value.code) { try await cache.finds(hurt) }
    let error = await expectCacheError(fault.value.code) { try await cache.save(hurt) }
    #expect(error?.underlyingError as? SealError == fault.value.expected)
    #expect(error?.advice?.isEmpty == false)
    #expect(fixture.contents(path) == changed)
    try await cache.save(SampleToken("new", account: 2))

    let removed = try await cache.store.remove(.damaged, in: fixture.group)
    if [.wrongKey, .newerVersion].contains(fault.value.kind) {
      #expect(removed == 0)
      #expect(fixture.contents(path) == changed)
      #expect(try await cache.store.remove(.everything, in: fixture.group) == 3)
    } else {
      #expect(removed == 1)
      #expect(try await cache.finds(sound))
    }
    #expect(try await fixture.problems(cache).isEmpty)
    try await cache.save(hurt)
    #expect(try await fixture.otherCache().finds(hurt))
  }

  @Test func `Every bit of a file counts`() async throws {
    let path = fixture.path(hurt)
    let intact = try fixture.bytes(path)
    for offset in Array(0..<130) + Array(stride(from: 130, to: intact.count, by: 97)) + [intact.count - 1] {
      var bytes = intact
      bytes[offset] ^= 0x10
      try fixture.write(bytes, to: path)
      let contents = try await fixture.store.read(.some([fixture.shard(hurt)]), in: fixture.group)
      #expect(contents.documents.isEmpty)
      #expect(contents.problems.map(\.kind) == [.damaged], "byte \(offset)")
    }
    try fixture.write(intact, to: path)
    #expect(try await fixture.otherCache().finds(hurt))
  }

  @Test func `A file of another group is reported as misplaced`() async throws {
    let other = try KeychainGroup("org.example.other")
    try await TokenCacheAccessor(store: fixture.store, group: other).save(hurt)
    let shard = fixture.commonShard
    let theirs = "\(fixture.root)/groups/\(other)/\(ShardID(homeAccountID: nil, group: other)).sealed"
    try fixture.write(try fixture.bytes(theirs), to: fixture.path(shard))
    let problems = try await fixture.store.read(.all, in: fixture.group).problems
    #expect(problems.map(\.shard) == [shard])
    #expect(problems.first?.detail.contains(SealError.misplaced.description) == true)
  }

  @Test func `A removed file is reported, and can be written again`() async throws {
    try fixture.remove(fixture.path(hurt))
    let cache = fixture.otherCache()
    #expect(try await fixture.problems(cache).map(\.kind) == [.missing])
    #expect(try await !cache.finds(hurt))
    try await cache.save(hurt)
    #expect(try await fixture.problems(cache).isEmpty)
    try fixture.remove(fixture.path(hurt))
    #expect(try await cache.store.remove(.damaged, in: fixture.group) == 1)
    #expect(try await fixture.problems(cache).isEmpty)
  }

  @Test func `The file of a removed account that is put back is reported`() async throws {
    let file = try fixture.bytes(fixture.path(hurt))
    try await fixture.cache.removeAccount(hurt.homeAccountID)
    try fixture.write(file, to: fixture.path(hurt))
    let cache = fixture.otherCache()
    #expect(try await fixture.problems(cache).map(\.kind) == [.rolledBack])
    await expectCacheError(.rolledBack) { try await cache.finds(hurt) }
    // Also one with the number of the removal.
    try fixture.reseal(fixture.shard(hurt), sequence: fixture.manifestSequence)
    #expect(try await fixture.problems(cache).map(\.remedy) == [.removal])
    try await cache.save(sound)
  }

  @Test func `An older manifest with an older file is recognized by the newer files`() async throws {
    let fixture = try Fixture()
    try await fixture.cache.save(SampleToken("before", account: 1))
    let (manifest, file) = (try fixture.bytes(fixture.manifest), try fixture.bytes(fixture.path(hurt)))
    try await fixture.cache.save(hurt)
    try await fixture.cache.save(sound)
    try fixture.write(manifest, to: fixture.manifest)
    try fixture.write(file, to: fixture.path(hurt))
    let cache = fixture.otherCache()
    let contents = try await cache.store.read(.all, in: fixture.group)
    #expect(Set(contents.problems.map(\.kind)) == [.rolledBack])
    #expect(contents.problems.map(\.shard) == [fixture.shard(sound)])
    await expectCacheError(.rolledBack) { try await cache.finds(sound) }
    // The user accepts it.
    #expect(try await cache.store.remove(.damaged, in: fixture.group) == 1)
    #expect(try await cache.finds(sound))
  }

  @Test(.requirement("R12.2")) func `A foreign file is reported and left`() async throws {
    let path = fixture.groupPath + "/notes.txt"
    try fixture.write(Array("mine".utf8), to: path)
    let problems = try await fixture.store.read(.all, in: fixture.group).problems
    #expect(problems.map(\.kind) == [.foreign])
    #expect(problems.first?.detail.contains("notes.txt") == true)
    #expect(try await fixture.store.remove(.everything, in: fixture.group) == 3)
    #expect(fixture.isThere(path))
  }
}

extension Fixture {
  /// Changes a file as an attacker does who knows the format but not the key.
  func forge(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
    try self.change(path) { bytes in
      change(&bytes)
      let sum = Array(SHA256.hash(data: bytes.dropLast(16)).prefix(16))
      bytes.replaceSubrange((bytes.count - 16)..., with: sum)
    }
  }
}
