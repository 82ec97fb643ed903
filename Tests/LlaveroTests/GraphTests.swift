import EntraLab
import FoundationEssentials
import LabSupport
import TestSupport
import Testing
import TokenCache

@Suite(.lab, .timeLimit(.minutes(20)))
struct GraphTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws { tool = try Tool.signedIn() }

  @Test func `me shows the user`() throws {
    let result = try tool("me").exits(0)
    #expect(result.standardOutput.contains(/userPrincipalName +alice@contoso.test\n/))
    let user = try tool.json("me", "--select", "displayName")
    #expect(user["displayName"]?.stringValue?.isEmpty == false)
    #expect(lab.requests(to: .graph).last?.query["$select"] == "displayName")
  }

  @Test func `get prints what comes, byte by byte`() throws {
    let result = try tool("get", "/me", "--select", "id").exits(0)
    #expect(try result.json["id"] != nil)
    try tool("get", lab.graphURL + "/me").exits(0)
    lab.inject(
      LabFault(.graph, headers: ["Content-Type": "application/octet-stream"], body: "\u{1B}[31m\0"))
    #expect(try tool("get", "/me/file").standardOutput == "\u{1B}[31m\0")
  }

  @Test func `On a terminal nothing that drives it is printed`() throws {
    for type in ["application/json", "text/plain"] {
      lab.inject(LabFault(.graph, headers: ["Content-Type": type], body: "[\"a\u{1B}[31m\"]"))
      let screen = try tool.onTerminal("get", "/me").exits(0)
      #expect(!screen.text.contains("\u{1B}"))
      #expect(screen.text.contains("31m"))
    }
  }

  @Test(.fault("hostile name")) func `What Graph calls a property drives no terminal either`() throws {
    lab.inject(
      LabFault(
        .graph, headers: ["Content-Type": "application/json"],
        body: #"{"id": "1", "a\u001b[31m\u202eb": "value", "c": ["\u001b[2J"]}"#))
    let result = try tool("me").exits(0)
    #expect(result.standardOutput.contains("value"))
    #expect(!result.standardOutput.unicodeScalars.contains { ["\u{1B}", "\u{202E}"].contains($0) })
  }

  @Test func `What Graph refuses has an exit code and the request's id`() throws {
    try tool("get", "/me/nothing").exits(1, saying: "request ")
    #expect(try tool("get", "https://example.com/me").status == 2)
    #expect(try tool("get", "/me", with: ["LLAVERO_GRAPH_URL": nil]).status == 2)
    #expect(try tool("me", with: ["LLAVERO_GRAPH_URL": "http://localhost"]).status == 2)
    lab.inject(LabFault(.graph, count: 3, connection: .drop))
    #expect(try tool("me").status == 4)
    lab.clearFaults()
    lab.inject(LabFault(.graph, status: 401, body: "{}"))
    try tool("me").exits(3, saying: "llavero login")
  }
}
