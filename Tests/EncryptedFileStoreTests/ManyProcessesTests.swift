import EncryptedFileStore
import TestSupport
import Testing
import TokenCache

/// What many processes that save into one group at once leave behind, and see of each other.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test func `Eight processes that save 200 responses each lose none`() async throws {
    try await fixture.saveByProcesses(8, saves: 200, accounts: 20)
  }

  @Test func `What was acknowledged stays although writers are killed all the time`() async throws {
    try await fixture.saveByProcessesThatAreKilled()
  }

  @Test func `Two processes see each other's changes with their first lookup`() async throws {
    try await fixture.saveInTurnsWithAnotherProcess()
  }

  @Test func `A writer waits for another process, and goes on when that is killed`() async throws {
    try await fixture.waitForAnotherProcess()
  }

  @Test func `Reading leaves no serialized token in memory`() async throws {
    try await fixture.leaveNoResidue()
  }

  @Test(.fault("lock torn"))
  func `Readers wait for nobody who holds the lock of a lock file that is not whole`() async throws {
    let token = SampleToken("one", account: 1)
    try await fixture.cache.save(token)
    let lock = fixture.groupPath + "/lock"
    try fixture.write([], to: lock)
    let holder = try HeldLock(on: lock)
    let store = fixture.otherStore()
    #expect(store.generation(of: fixture.group) == nil)
    #expect(try await fixture.accessor(on: store).finds(token))
    #expect(holder.isHeld)
  }

  @Test func `A thousand tasks save and read through one store`() async throws {
    try await fixture.saveByAThousandTasks()
  }
}
