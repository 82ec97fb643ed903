import GLibSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct CommandOutputTests {
  private let soon = Cancellable(timeout: .seconds(300))

  @Test func `What a command writes comes back, and variables reach it`() throws {
    let command = ["sh", "-c", #"echo "$ONE $0"; echo lost >&2"#, "two words"]
    #expect(try outputOfCommand(command, variables: ["ONE": "1"], soon) == "1 two words\n")
  }

  @Test(arguments: [["/proc/nonexistent/program"], ["false"], ["sh", "-c", "kill -9 $$"]])
  func `A command that cannot be started or fails is an error`(command: [String]) {
    #expect(throws: GLibError.self) { try outputOfCommand(command, soon) }
  }

  @Test(.fault("lives on"), arguments: ["exec sleep 600", "exec >&-; exec sleep 600"])
  func `A command that is not done in time is ended, even if it has nothing more to say`(_ script: String) {
    let clock = ContinuousClock()
    let duration = clock.measure {
      #expect(throws: GLibError.self) {
        try outputOfCommand(["sh", "-c", script], Cancellable(timeout: .milliseconds(100)))
      }
    }
    #expect(duration < .seconds(300))
  }
}
