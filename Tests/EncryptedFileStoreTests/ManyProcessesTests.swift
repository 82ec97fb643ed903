import CacheWorker
import EncryptedFileStore
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TokenCache

/// What many processes that save into one group at once leave behind, and see of each other.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ManyProcessesTests {
  private static let processes = 8
  private static let accounts = 20

  @Test func `Eight processes that save 200 responses each lose none`() async throws {
    let fixture = try Fixture()
    let saves = 200
    let workers = try (0..<Self.processes).map {
      try fixture.worker("save", fixture.group.name, "w\($0)", "\(saves)", "\(Self.accounts)")
    }
    var acknowledged: [String] = []
    for worker in workers {
      let (lines, status) = await worker.finish()
      #expect(status == 0)
      acknowledged += lines
    }
    #expect(acknowledged.count == Self.processes * saves)
    #expect(try await fixture.names() == Set(acknowledged))
  }

  @Test func `What was acknowledged stays although writers are killed all the time`() async throws {
    let fixture = try Fixture()
    func worker(_ name: String) throws -> Worker {
      try fixture.worker("save", fixture.group.name, name, "100000", "\(Self.accounts)")
    }
    var workers = try (0..<Self.processes).map { try worker("w\($0)") }
    var acknowledged: [String] = []
    let rounds = 80
    for round in 0..<rounds {
      let slot = round % Self.processes
      let victim = workers[slot]
      // It has begun to save, and is killed at whatever it does then.
      for _ in 0...round % 4 { acknowledged.append(await victim.nextLine()) }
      victim.kill()
      workers[slot] = try worker("r\(round)")
      acknowledged += await victim.finish().lines
    }
    for worker in workers { worker.kill() }
    for worker in workers { acknowledged += await worker.finish().lines }

    let names = try await fixture.names()
    #expect(names.isSuperset(of: acknowledged))
    // Of each victim one save at most was under way.
    #expect(names.count <= acknowledged.count + rounds + Self.processes)
    print(
      "\(rounds + Self.processes) processes killed, \(acknowledged.count) acknowledged, \(names.count) found")
    let token = SampleToken("last", account: 0)
    try await fixture.cache.save(token)
    #expect(try await fixture.otherCache().finds(token))
  }

  @Test func `Two processes see each other's changes with their first lookup`() async throws {
    let fixture = try Fixture()
    let worker = try fixture.worker("serve", fixture.group.name)
    #expect(await worker.nextLine() == "ready")
    for number in 0..<20 {
      let theirs = SampleToken("theirs-\(number)", account: 0)
      #expect(try await !fixture.cache.finds(theirs))
      #expect(await worker.ask("save \(theirs.name)") == "saved")
      #expect(try await fixture.cache.finds(theirs))
      let ours = SampleToken("ours-\(number)", account: 0)
      #expect(await worker.ask("find \(ours.name)") == "missing")
      try await fixture.cache.save(ours)
      #expect(await worker.ask("find \(ours.name)") == "found")
    }
    #expect(await worker.finish().status == 0)
  }

  @Test func `A writer waits for another process, and goes on when that is killed`() async throws {
    let fixture = try Fixture()
    let token = SampleToken("new", account: 0)
    try await fixture.cache.save(SampleToken("old", account: 0))
    let worker = try fixture.worker("serve", fixture.group.name)
    #expect(await worker.nextLine() == "ready")
    #expect(await worker.ask("hold") == "holding")
    let impatient = TokenCacheAccessor(
      store: fixture.otherStore(timeout: .seconds(1)), group: fixture.group)
    await #expect(throws: CacheError(.timedOut, "")) { try await impatient.save(token) }
    #expect(try await !fixture.otherCache().finds(token))
    async let saved: Void = fixture.cache.save(token)
    worker.kill()
    try await saved
    #expect(await worker.finish().status == 128 + SIGKILL)
    #expect(try await fixture.otherCache().finds(token))
  }

  @Test func `A thousand tasks save and read through one store`() async throws {
    let fixture = try Fixture()
    let cache = fixture.cache
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<1000 {
        group.addTask {
          if number.isMultiple(of: 5) {
            let token = SampleToken("t\(number)", account: number % 7)
            try await cache.save(token)
            #expect(try await cache.finds(token))
          } else {
            _ = try await cache.finds(SampleToken("t\(number - number % 5)", account: number % 7))
          }
        }
      }
      try await group.waitForAll()
    }
    for number in stride(from: 0, to: 1000, by: 5) {
      #expect(try await cache.finds(SampleToken("t\(number)", account: number % 7)))
    }
  }
}

extension Fixture {
  /// The names of the tokens in the group, each of which is whole and there once.
  fileprivate func names() async throws -> Set<String> {
    let contents = try await otherStore().read(.all, in: group)
    #expect(contents.problems.isEmpty, "\(contents.problems)")
    var names: Set<String> = []
    for document in contents.documents.values {
      for credential in document.accessTokens.values {
        let token = try #require(AccessToken(credential))
        let name = try #require(SampleToken.name(ofAccessToken: token.secret))
        #expect(names.insert(name).inserted)
      }
    }
    return names
  }
}
