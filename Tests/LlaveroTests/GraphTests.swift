import EntraLab
import FoundationEssentials
import TestSupport
import Testing
import TokenCache

@Suite(.timeLimit(.minutes(20)))
struct GraphTests {
  private func signedIn<T: Sendable>(_ body: (LabTool) async throws -> T) async throws -> T {
    try await withLab { lab in
      let tool = try LabTool(lab)
      try tool.logIn()
      return try await body(tool)
    }
  }

  @Test func `me shows the user`() async throws {
    try await signedIn { tool in
      let result = try tool("me")
      #expect(result.status == 0)
      #expect(result.standardOutput.contains(/userPrincipalName +alice@contoso.test\n/))
      let user = try tool.json("me", "--select", "displayName")
      #expect(user["displayName"]?.stringValue?.isEmpty == false)
      #expect(tool.lab.requests(to: .graph).last?.query["$select"] == "displayName")
    }
  }

  @Test func `get prints what comes, byte by byte`() async throws {
    try await signedIn { tool in
      let result = try tool("get", "/me", "--select", "id")
      #expect(result.status == 0)
      #expect(try JSONValue(text: result.standardOutput)["id"] != nil)
      let absolute = try tool("get", tool.lab.graphURL + "/me")
      #expect(absolute.status == 0)
      tool.lab.inject(
        LabFault(.graph, headers: ["Content-Type": "application/octet-stream"], body: "\u{1B}[31m\0"))
      #expect(try tool("get", "/me/file").standardOutput == "\u{1B}[31m\0")
    }
  }

  @Test func `On a terminal nothing that drives it is printed`() async throws {
    try await signedIn { tool in
      for type in ["application/json", "text/plain"] {
        tool.lab.inject(LabFault(.graph, headers: ["Content-Type": type], body: "[\"a\u{1B}[31m\"]"))
        let screen = try tool.tool.onTerminal("get", "/me", environment: tool.environment)
        #expect(screen.status == 0)
        #expect(!screen.text.contains("\u{1B}"))
        #expect(screen.text.contains("31m"))
      }
    }
  }

  @Test func `What Graph calls a property drives no terminal either`() async throws {
    try await signedIn { tool in
      tool.lab.inject(
        LabFault(
          .graph, headers: ["Content-Type": "application/json"],
          body: #"{"id": "1", "a\u001b[31m\u202eb": "value", "c": ["\u001b[2J"]}"#))
      let result = try tool("me")
      #expect(result.status == 0, "\(result.standardError)")
      #expect(result.standardOutput.contains("value"))
      #expect(!result.standardOutput.unicodeScalars.contains { ["\u{1B}", "\u{202E}"].contains($0) })
    }
  }

  @Test func `What Graph refuses has an exit code and the request's id`() async throws {
    try await signedIn { tool in
      let missing = try tool("get", "/me/nothing")
      #expect(missing.status == 1)
      #expect(missing.standardError.contains("request "))
      #expect(try tool("get", "https://example.com/me").status == 2)
      #expect(try tool("get", "/me", with: ["LLAVERO_GRAPH_URL": nil]).status == 2)
      #expect(try tool("me", with: ["LLAVERO_GRAPH_URL": "http://localhost"]).status == 2)
      tool.lab.inject(LabFault(.graph, count: 3, connection: .drop))
      #expect(try tool("me").status == 4)
      tool.lab.clearFaults()
      tool.lab.inject(LabFault(.graph, status: 401, body: "{}"))
      let refused = try tool("me")
      #expect(refused.status == 3)
      #expect(refused.standardError.contains("llavero login"))
    }
  }
}
