import MSAL
import TestSupport

/// The compiler's checks of the module and of the examples in documents.
@Suite(.timeLimit(.minutes(20)))
struct CompilerTests {
  @Test(
    .fault("Apple code", "Apple classes"),
    arguments: [
      // Ported code builds in both language modes, and Swift 6 refuses what would run on another thread.
      "msal/compile",
      // MSALSymbols.md is the table of MSAL's symbols and ours.
      "msal/symbols",
      // Examples in documents and comments compile, and name commands and options that the tool has.
      "examples",
    ])
  func `The compiler accepts what the documentation says`(_ script: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let programs = URL(filePath: TestSupport.Worker.program).deletingLastPathComponent()
    let result = try Child.run(
      "python3", [tests.appending(path: script).path],
      environment: ProcessInfo.processInfo.environment.merging(["BIN": programs.path]) { $1 })
    #expect(result.standardError == "")
    #expect(result.status == 0)
  }
}
