import EncryptedFileStore
import TestSupport

/// Many processes that save into one group at once.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test func `Eight processes that save 100 responses each lose none`() async throws {
    try await fixture.saveByProcesses(8, saves: 100, accounts: 20)
  }

  @Test func `Acknowledged saves stay while writers are killed`() async throws {
    try await fixture.saveByProcessesThatAreKilled()
  }

  @Test func `Two processes see each other's changes with their first lookup`() async throws {
    try await fixture.saveInTurnsWithAnotherProcess()
  }

  @Test func `A writer waits for another process, and continues when that is killed`() async throws {
    try await fixture.waitForAnotherProcess()
  }

  @Test func `Reading leaves no serialized token in memory`() async throws {
    try await fixture.leaveNoResidue()
  }

  @Test(.fault("lock torn"))
  func `Readers do not wait for the lock of an incomplete lock file`() async throws {
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
