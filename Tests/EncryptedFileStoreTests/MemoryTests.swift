import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// `KeyringStoreTests` has the same of the keyring.
@Suite(.timeLimit(.minutes(20)))
struct MemoryTests {
  /// In a process of its own: others' memory would count too.
  @Test func `Reading leaves no serialized token in memory`() async throws {
    let fixture = try Fixture()
    // Many, since what is not wiped is in part overwritten by what comes next.
    let saver = try fixture.worker("save", fixture.group.name, "residue", "40", "1")
    #expect(await saver.finish().lines.count == 40)
    let (lines, status) = try await fixture.worker("residue", fixture.group.name, "residue").finish()
    #expect(status == 0)
    #expect(lines == ["0", "0"])
  }
}
