import Foundation
import TestSupport

struct ConformanceTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path

  /// What the script reports.
  private func problems(_ directory: String, _ arguments: String...) throws -> String {
    let result = try Child.run("python3", ["\(directory)/conformance"] + arguments)
    #expect(result.status == (result.standardError == "" ? 0 : 1))
    return result.standardError
  }

  @Test func `Every row has a test, and the documents are those of the rows and the traits`() throws {
    #expect(try problems(tests) == "")
  }

  @Test(arguments: ["fault", "conformance"])
  func `An outdated document, a row without a test and an unknown row are problems`(trait: String) throws {
    let root = try TemporaryDirectory(), directory = try root.directory("Tests")
    let document = trait == "fault" ? "Faults.md" : "Conformance.md"
    for file in ["CacheFormat.md", "Tests/Faults.md", "Tests/Conformance.md"] { try root.file(file) }
    // As TemporaryDirectory.program, not by this process.
    _ = try Child.output("cp", ["\(tests)/conformance", directory])
    // A new row has no tests yet.
    let rows = "| Row | What | Tests |\n|---|---|---|\n| 1 | first | `Gone` |\n| 2 | second |\n"
    try root.file("Tests/\(document)", rows)
    try root.file("Tests/interop/script", "# Shows .\(trait)(2).\n")
    func write(row: String, name: String) throws {
      let test = "@Test(.\(trait)(\(row))) func \u{60}\(name)\u{60}() {}\n"
      try root.file("Tests/SomeTests/OneTests.swift", test)
    }

    try write(row: "1, 2", name: "It holds")
    #expect(try problems(directory, "--write") == "")
    #expect(
      try root.contents("Tests/\(document)") == """
        | Row | What | Tests |
        |---|---|---|
        | 1 | first | `SomeTests.OneTests/It holds` |
        | 2 | second | `SomeTests.OneTests/It holds`<br>`Tests/interop/script` |

        """)
    #expect(try problems(directory) == "")
    try write(row: "1, 2", name: "Renamed")
    let outdated = "\(document) is not that of its rows and the tests; --write makes it\n"
    #expect(try problems(directory) == outdated)
    try write(row: "3", name: "It holds")
    let unknown = """
      \(document): "1" has no test, or is there twice
      \(document) has no row "3", which a test names: `SomeTests.OneTests/It holds`

      """
    #expect(try problems(directory) == unknown + outdated)
    #expect(try problems(directory, "--write") == unknown)
  }
}
