import MSAL
import TestSupport
import Testing

/// What the compiler says of the module.
@Suite(.timeLimit(.minutes(10)))
struct CompilerTests {
  @Test(arguments: [
    // Ported code builds in both language modes, and Swift 6 refuses what would run on another thread.
    "compile",
    // MSALSymbols.md is the table of MSAL's symbols and ours.
    "symbols",
  ])
  func `The module is what it is said to be`(_ script: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let programs = URL(filePath: TestSupport.Worker.program).deletingLastPathComponent()
    let result = try Child.run(
      "python3", [tests.appending(path: "msal/\(script)").path],
      environment: ProcessInfo.processInfo.environment.merging(["BIN": programs.path]) { $1 })
    #expect(result.standardError == "")
    #expect(result.status == 0)
  }
}
