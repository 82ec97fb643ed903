import TestSupport

/// What many processes that use one group at once leave behind, and see of each other.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test(.requirement("R6.1"), .fault("eight savers"))
  func `Eight processes that save 100 responses each lose none`() async throws {
    try await fixture.saveByProcesses(8, saves: 100, accounts: 20)
  }

  @Test(.fault("writer killed"))
  func `What was acknowledged stays although writers are killed all the time`() async throws {
    try await fixture.saveByProcessesThatAreKilled()
  }

  @Test func `Reading leaves no serialized token in memory, and SecretBytes no secret`() async throws {
    try await fixture.leaveNoResidue()
  }
}
