import EncryptedFileStore
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// What many processes that save into one group at once leave behind, and see of each other.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  @Test func `Eight processes that save 200 responses each lose none`() async throws {
    let fixture = try Fixture()
    let acknowledged = try await fixture.saveByEightProcesses()
    #expect(try await fixture.savedNames() == Set(acknowledged))
  }

  @Test func `What was acknowledged stays although writers are killed all the time`() async throws {
    let fixture = try Fixture()
    let (acknowledged, killed) = try await fixture.saveByProcessesThatAreKilled()
    let names = try await fixture.savedNames()
    #expect(names.isSuperset(of: acknowledged))
    #expect(names.count <= acknowledged.count + killed)
    print("\(killed) processes killed, \(acknowledged.count) acknowledged, \(names.count) found")
    let token = SampleToken("last", account: 0)
    try await fixture.cache.save(token)
    #expect(try await fixture.otherCache().finds(token))
  }

  @Test func `Two processes see each other's changes with their first lookup`() async throws {
    try await Fixture().saveInTurnsWithAnotherProcess()
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

  @Test func `Readers wait for nobody who holds the lock of a lock file that is not whole`() async throws {
    let fixture = try Fixture()
    let token = SampleToken("one", account: 1)
    try await fixture.cache.save(token)
    let lock = fixture.groupPath + "/lock"
    try fixture.write([], to: lock)
    let holder = try HeldLock(lock)
    let store = fixture.otherStore()
    #expect(store.generation(of: fixture.group) == nil)
    #expect(try await TokenCacheAccessor(store: store, group: fixture.group).finds(token))
    #expect(holder.isHeld)
  }

  @Test func `A thousand tasks save and read through one store`() async throws {
    try await Fixture().saveByAThousandTasks()
  }
}
