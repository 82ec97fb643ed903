import Foundation
import TestSupport
import Testing

struct ConformanceTests {
  @Test
  func `Every row has a test, a script or a reason, and names the tests it has`() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let result = try Child.run(
      "python3", [tests.appendingPathComponent("conformance").path],
      environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"])
    #expect(result.standardError == "")
    #expect(result.status == 0)
  }
}
