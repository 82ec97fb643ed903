import TestSupport

/// What many processes that save into one group at once leave behind, and see of each other.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  @Test(.fault("many writers")) func `Eight processes that save 100 responses each lose none`() async throws {
    try await Fixture().saveByProcesses(8, saves: 100, accounts: 20)
  }

  @Test(.fault("many writers"))
  func `What was acknowledged stays although writers are killed all the time`() async throws {
    try await Fixture().saveByProcessesThatAreKilled()
  }

  @Test func `Processes that check every lookup see each other's changes at once`() async throws {
    try await Fixture(checksEveryLookup: true).saveInTurnsWithAnotherProcess()
  }

  @Test func `A thousand tasks save and read through one store`() async throws {
    try await Fixture().saveByAThousandTasks()
  }
}
