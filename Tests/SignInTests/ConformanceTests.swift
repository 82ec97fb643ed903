import Foundation
import TestSupport
import Testing

@Suite("The table of conformance")
struct ConformanceTests {
  @Test("Every row has a test, a script or a reason, and names the tests it has")
  func table() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let result = try Child.run(
      "python3", [tests.appendingPathComponent("conformance").path],
      environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"])
    #expect(result.standardError == "")
    #expect(result.status == 0)
  }
}
