import TestSupport

@testable import EncryptedFileStore

/// One directory that two machines use by a network file system, each with a memory of its own.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(if: NetworkMount.isPossible, "mounts need root, bindfs and sshfs"))
struct NetworkTests {
  private let fixture: Fixture
  private let token = SampleToken("one", account: 0)

  init() throws {
    fixture = try Fixture()
    mkdir(export, 0o700)
  }

  /// What the machines share.
  private var export: String { fixture.directory + "/data" }

  private func environment(on machine: NetworkMount) -> [String: String] {
    ["XDG_DATA_HOME": machine.path, "XDG_RUNTIME_DIR": machine.path + ".run"]
  }

  private func store(on machine: NetworkMount) -> EncryptedFileCacheStore {
    fixture.otherStore(environment: environment(on: machine))
  }

  private func cache(on machine: NetworkMount) -> TokenCacheAccessor {
    fixture.accessor(on: store(on: machine))
  }

  private func worker(on machine: NetworkMount, _ arguments: String...) throws -> Worker {
    try Worker(
      [Worker.program] + arguments, environment: fixture.environment.merging(environment(on: machine)) { $1 })
  }

  private func twoMachines() throws -> [NetworkMount] {
    try (0..<2).map { _ in try NetworkMount(.withLocks, of: export) }
  }

  @Test(.fault("network mount"))
  func `Processes of two machines that save at once lose nothing of each other's`() async throws {
    let machines = try twoMachines()
    let writers = try (0..<4).map { number in
      try worker(on: machines[number % 2], "save", fixture.group.name, "w\(number)", "25", "3")
    }
    #expect(await fixture.acknowledged(by: writers).count == 100)
    for machine in machines {
      let contents = try await store(on: machine).read(.all, in: fixture.group)
      #expect(contents.problems.isEmpty)
      #expect(contents.documents.values.flatMap(\.accessTokens.values).count == 100)
    }
  }

  @Test(.requirement("R12.19"), .fault("network mount"))
  func `A store that has read before sees at once what another machine wrote`() async throws {
    let machines = try twoMachines()
    let caches = machines.map(cache)
    for number in 0..<10 {
      let token = SampleToken("t\(number)", account: 0)
      for cache in caches { #expect(try await !cache.finds(token)) }
      try await caches[number % 2].save(token)
      for cache in caches { #expect(try await cache.finds(token)) }
    }
    for cache in caches { #expect(cache.store.generation(of: fixture.group) == nil) }
    _ = try await store(on: machines[1]).rekey()
    #expect(try await caches[0].finds(SampleToken("t9", account: 0)))
  }

  @Test(.fault("network mount"))
  func `A writer waits for one of another machine, and goes on when that is killed`() async throws {
    let machines = try twoMachines()
    try await cache(on: machines[0]).save(SampleToken("old", account: 0))
    let holder = try worker(on: machines[0], "serve", fixture.group.name)
    #expect(await holder.nextLine() == "ready")
    #expect(await holder.ask("hold") == "holding")
    let impatient = fixture.accessor(
      on: fixture.otherStore(timeout: .seconds(1), environment: environment(on: machines[1])))
    await expectCacheError(.timedOut) { try await impatient.save(token) }
    let other = cache(on: machines[1])
    async let saved: Void = other.save(token)
    holder.kill()
    try await saved
    _ = await holder.finish()
    #expect(try await cache(on: machines[0]).finds(token))
  }

  @Test func `On a file system that hangs a new store's calls end at their timeout`() async throws {
    await #expect(processExitsWith: .success) {
      let test = try NetworkTests()
      let machine = try NetworkMount(.withLocks, of: test.export)
      try await test.cache(on: machine).save(test.token)
      let store = test.fixture.otherStore(timeout: .seconds(1), environment: test.environment(on: machine))
      machine.hang()
      defer { machine.goOn() }
      #expect(store.generation(of: test.fixture.group) == nil)
      await expectCacheError(.timedOut) { try await store.read(.all, in: test.fixture.group) }
      await expectCacheError(.timedOut) { try await test.fixture.accessor(on: store).save(test.token) }
    }
  }

  @Test(.requirement("R12.21"), .fault("no net locks"))
  func `Where no lock reaches other machines the store is read and not written`() async throws {
    let machine = try NetworkMount(.withoutLocks, of: export)
    let none = await expectCacheError(.unavailable) { try await cache(on: machine).save(token) }
    #expect(none?.message.contains("locks may not reach other machines") == true)
    #expect(none?.advice?.contains("XDG_DATA_HOME") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: export).isEmpty)

    try await fixture.cache.save(token)
    let before = try fixture.files()
    let reader = cache(on: machine)
    #expect(try await reader.finds(token))
    #expect(try store(on: machine).sharing() == .networkWithoutLocks("fuse.sshfs"))
    await expectCacheError(.unavailable) { try await reader.save(SampleToken("two", account: 0)) }
    await expectCacheError(.unavailable) { try await store(on: machine).rekey() }
    await expectCacheError(.unavailable) {
      try await store(on: machine).remove(.everything, in: fixture.group)
    }
    #expect(try fixture.files() == before)
    // What the machine that has the disk writes is seen.
    let later = SampleToken("later", account: 0)
    try await fixture.cache.save(later)
    #expect(try await reader.finds(later))
  }

  @Test(.requirement("R12.11"))
  func `A reader without locks reports an older manifest only if no writer replaces it`() async throws {
    try await fixture.cache.save(token)
    let before = try #require(fixture.contents(fixture.manifest))
    let later = SampleToken("later", account: 0)
    try await fixture.cache.save(later)
    let after = fixture.manifest + ".later"
    #expect(rename(fixture.manifest, after) == 0)
    try fixture.put(["manifest.sealed": before])

    let machine = try NetworkMount(.withoutLocks, of: export)
    let store = store(on: machine)
    let shards = ShardSelection.some([fixture.shard(token)])
    #expect(try await store.read(shards, in: fixture.group).problems.map(\.kind) == [.rolledBack])

    let reads = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    defer { close(reads) }
    inotify_add_watch(reads, fixture.manifest, UInt32(IN_ACCESS))
    async let found = store.read(shards, in: fixture.group)
    try await eventually {
      var event = [UInt8](repeating: 0, count: 256)
      return read(reads, &event, event.count) > 0
    }
    #expect(rename(after, fixture.manifest) == 0)
    let contents = try await found
    #expect(contents.problems.isEmpty)
    #expect(contents.documents.values.flatMap(\.accessTokens.values).count == 2)
  }

  @Test(.requirement("R12.20"), .fault("shard unseen"))
  func `A shard that is out of sight is not written anew`() async throws {
    let machine = try NetworkMount(.withLocks, of: export)
    try await cache(on: machine).save(token)
    let file = try fixture.bytes(fixture.path(token))
    try fixture.remove(fixture.path(token))
    await expectCacheError(.damaged) { try await cache(on: machine).save(SampleToken("two", account: 0)) }
    try fixture.write(file, to: fixture.path(token))
    #expect(try await cache(on: machine).finds(token))
  }
}
