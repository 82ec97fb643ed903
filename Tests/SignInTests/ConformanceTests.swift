import Foundation
import TestSupport

struct ConformanceTests {
  @Test func `Every row has a test, and the documents are those of the rows and the traits`() throws {
    let script = SharedFiles.repository.appending(path: "Tests/conformance").path
    let result = try Child.run("python3", [script], environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"])
    #expect((result.status, result.standardError) == (0, ""))
  }
}
