import TestSupport

/// `llavero shim list` and `remove`. `OtherToolsTests` has tests of the scripts.
struct ShimTests {
  private let tool: Tool
  private var own: String { tool.files.path + "/.local/bin" }

  init() throws { tool = try Tool() }

  private func shim(_ arguments: String..., path: String? = nil) throws -> Child.Result {
    let path = path.map { $0 + ":/usr/bin:/bin" } ?? "/usr/bin:/bin"
    return try tool.run(["shim"] + arguments, with: ["HOME": tool.files.path, "PATH": path])
  }

  @Test func `Installed stand-ins are listed with the program that PATH finds`() throws {
    #expect(try shim().exits(0).standardError == "No stand-in is installed.\n")
    #expect(try shim("--json").json == .object(["shims": .array([])]))
    let (other, first) = (try tool.files.directory("other"), try tool.files.directory("first"))
    try shim("install", "azd").exits(0)
    try shim("install", "az", "--directory", other).exits(0)
    try tool.files.file("first/az", "#!/bin/sh\n", mode: 0o755)
    let shims = try shim("list", "--json", path: "\(first):\(other):\(own)").exits(0).json["shims"]
    #expect(shims?.strings("program") == ["az", "azd"])
    #expect(shims?.strings("path") == [other + "/az", own + "/azd"])
    #expect(shims?.strings("state") == ["other_program", "ok"])
    #expect(shims?.strings("found") == [first + "/az", own + "/azd"])
    let path = "\(first):\(other):\(own):/usr/bin:/bin"
    let variables = ["HOME": tool.files.path, "PATH": path]
    let screening = try tool.onTerminal(["shim"], columns: 250, with: variables) { _, _ in nil }
    screening.exits(0, saying: "\(own)/azd", "\u{1B}[33mPATH finds", hiding: "\u{1B}[33mok")
    let cells = ["az", "PATH finds \(first)/az", other + "/az"]
    for (width, widths) in [(51, [7, 20, 20]), (52, [7, 20, 21])] {
      let lines = try tool.onTerminal(["shim"], columns: width, with: variables) { _, _ in nil }.lines
      #expect(lines.dropFirst().first == Screening.row(cells, widths), "\(lines)")
    }
    // The user's own directory comes first, whatever PATH says.
    try shim("install", "az").exits(0)
    #expect(
      try shim("list", "--json", path: other).exits(0).json["shims"]?.strings("path")
        == [own + "/az", other + "/az", own + "/azd"])
  }

  @Test func `shim remove removes the stand-in`() throws {
    try shim("install", "az").exits(0)
    #expect(try shim("remove", "az", "--json").exits(0).json == .object(["path": .string(own + "/az")]))
    #expect(access(own + "/az", F_OK) != 0)
    try shim("remove", "az", "--json").exits(1, saying: "/az does not exist.", code: "not_found")
  }

  @Test func `shim remove keeps other files, and links`() throws {
    try shim("install", "azd").exits(0)
    // Quotes the line of a stand-in, and is another program.
    let script = try tool.files.contents(".local/bin/azd").replacing("#!/bin/sh\n", with: "#!/bin/sh\n\n:\n")
    let path = try tool.files.file(".local/bin/az", script)
    try shim("remove", "az", "--json").exits(1, code: "foreign")
    #expect(try tool.files.contents(".local/bin/az") == script)
    unlink(path)
    #expect(symlink(own + "/azd", path) == 0)
    try shim("remove", "az", "--json").exits(1, code: "foreign")
    #expect(access(own + "/azd", F_OK) == 0 && access(path, F_OK) == 0)
  }

  @Test(arguments: [["remove"], ["remove", "bash"], ["remove", "az", "--directory", ""], ["nonsense"]])
  func `shim without a known program is a usage error`(_ arguments: [String]) throws {
    try tool.run(["shim"] + arguments).exits(2)
  }
}
