import LabSupport

@Suite(.lab, .timeLimit(.minutes(20)))
struct GraphTests {
  private let lab = Lab.current
  private let tool: Tool

  init() throws { tool = try Tool.signedIn() }

  @Test func `Entries of no_proxy that GLib refuses print nothing`() throws {
    let proxied = [
      "https_proxy": "http://127.0.0.1:\(ReservedPort.refusing.number)",
      "no_proxy": "[::1],http://x,[x,a:b,localhost",
    ]
    try tool("get", "/me", with: proxied).exits(0, errors: "")
  }

  @Test func `get prints a response byte by byte`() throws {
    #expect(try tool("get", "/me", "--select", "id").exits(0).json["id"] != nil)
    try tool("get", lab.graphURL + "/me").exits(0)
    lab.inject(
      LabFault(.graph, headers: ["Content-Type": "application/octet-stream"], body: "\u{1B}[31m\0"))
    #expect(try tool("get", "/me/file").standardOutput == "\u{1B}[31m\0")
  }

  @Test func `get shows on a terminal that it waits for a busy Graph`() throws {
    lab.inject(LabFault(.graph, status: 429, headers: ["Retry-After": "1"]))
    try tool.onTerminal("get", "/me").exits(0, saying: "busy: waiting 1 s, 180 s at most in all")
    lab.inject(LabFault(.graph, status: 429, headers: ["Retry-After": "1"]))
    try tool("get", "/me").exits(0, errors: "")
  }

  @Test func `get prints no control characters on a terminal`() throws {
    for type in ["application/json", "text/plain"] {
      lab.inject(LabFault(.graph, headers: ["Content-Type": type], body: "[\"a\u{1B}[31m\"]"))
      try tool.onTerminal("get", "/me").exits(0, saying: "31m", hiding: "\u{1B}")
    }
  }

  @Test func `On a terminal lines and tabs of a response stay as they are`() throws {
    for type in ["application/json", "text/plain"] {
      lab.inject(LabFault(.graph, headers: ["Content-Type": type], body: "[\r\n\"one\",\t\"two\"\r\n]"))
      let lines = try tool.onTerminal("get", "/me").exits(0).lines
      #expect(lines == ["[", "\"one\",\t\"two\"", "]"])
    }
  }

  @Test func `On a terminal an object is a table, and JSON with --json`() throws {
    let table = try tool.onTerminal("get", "/me", columns: 120).exits(0)
    #expect(table.lines.contains { $0.contains(/^userPrincipalName +alice@contoso.test$/) }, "\(table.text)")
    #expect(!table.text.contains("{") && !table.text.contains("@odata"))
    try tool.onTerminal("get", "/me", "--json", columns: 120).exits(0, saying: "\"@odata.context\"")
    try tool.onTerminal("get", "/users", "--scope", "User.ReadBasic.All", columns: 120).exits(
      0, saying: "@odata.nextLink")
  }

  @Test func `The values of a table stand in one column, and what is empty is left out`() throws {
    for (name, width) in [("b", 18), (String(repeating: "x", count: 31), 30)] {
      let body = #"{"a": "1", "e": [], "\#(name)": "2"}"#
      lab.inject(LabFault(.graph, headers: ["Content-Type": "application/json"], body: body))
      let lines = try tool.onTerminal("get", "/me").exits(0).lines
      #expect(lines.count == 2 && lines.first == "a" + String(repeating: " ", count: width + 1) + "1")
    }
  }

  @Test func `Query parameters are encoded, and added to those of the path`() throws {
    try tool(
      "get", "/me?$expand=manager", "--query", "$search=\"a b+c&d=é\"", "--query", "x=", "--select", "id"
    ).exits(0)
    let query = try #require(lab.requests(to: .graph).last?.query)
    #expect(query == ["$expand": "manager", "$search": "\"a b+c&d=é\"", "x": "", "$select": "id"])
    try tool("get", "/me?$filter=a eq 'b'", "--select", "id").exits(0)
    #expect(lab.requests(to: .graph).last?.query == ["$filter": "a eq 'b'", "$select": "id"])
    try tool("get", "/me", "--query", "=x").exits(2)
    try tool("get", "/me", "--select", "id", "--query", "$select=mail").exits(2)
    try tool("get", "/me", "--lines").exits(2)
  }

  @Test func `All pages of a list are one array, or one object a line`() throws {
    let people = ["/users?$top=20", "--scope", "User.ReadBasic.All", "--all"]
    let array = try tool.run(["get"] + people).exits(0).json
    #expect(array.strings("displayName") == (1...45).map { "Person \($0)" })
    #expect(lab.requests(to: .graph).count == 3)
    let lines = try tool.run(["get"] + people + ["--lines"]).exits(0).standardOutput.split(separator: "\n")
    #expect(try lines.map { try JSONValue(text: String($0)) } == array.arrayValue)
    #expect(try tool("get", "/me", "--all").exits(1).standardOutput.isEmpty)
    let tables = try tool.onTerminal(["get"] + people) { _, _ in nil }.exits(0).text
    #expect(tables.ranges(of: "\r\n\r\n").count == 44 && !tables.hasPrefix("\r\n"))
    // A page may be larger than a program's by default.
    let large = String(repeating: "x", count: 17 << 20)
    lab.inject(LabFault(.graph, body: #"{"value":[{"x":"\#(large)"}]}"#))
    #expect(try tool("get", "/me/messages", "--all").exits(0).standardOutput.count > large.count)
  }

  @Test(.fault("next page"))
  func `A next page on another host or already visited is refused without a request`() throws {
    for (link, code) in [
      ("https://graph.example.com/v1.0/users", "host_not_allowed"),
      (lab.graphURL + "/me", "invalid_response"),
    ] {
      lab.clearLog()
      lab.inject(
        LabFault(
          .graph, count: 2, headers: ["Content-Type": "application/json"],
          body: #"{"value": [{"id": "1"}], "@odata.nextLink": "\#(link)"}"#))
      try tool("get", "/me", "--all", "--json").exits(1, printing: "", code: code)
      #expect(lab.requests(to: .graph).count == 1)
      lab.clearFaults()
    }
  }

  @Test(.fault("hostile name")) func `Names of properties have no control characters`() throws {
    lab.inject(
      LabFault(
        .graph, headers: ["Content-Type": "application/json"],
        body: #"{"id": "1", "a\u001b[31m\u202eb": "value", "c": ["\u001b[2J"]}"#))
    let result = try tool.onTerminal("get", "/me").exits(0, saying: "value")
    #expect(!result.text.unicodeScalars.contains { ["\u{1B}", "\u{202E}"].contains($0) })
  }

  @Test func `get reports on standard error that a new token could not be stored, also with --json`() throws {
    // Nothing is written without the group's lock.
    let lock = "\(tool.keyring.directory)/run/llavero/\(sha256Hex(tool.group).prefix(32)).lock"
    try FileManager.default.removeItem(atPath: lock)
    try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
    let users = try tool("get", "/users", "--scope", "User.ReadBasic.All", "--json").exits(
      0, saying: "warning: The new token could not be stored: ")
    #expect(try users.json["value"] != nil)
    let token = try tool("token", "--scope", "Mail.Read", "--json").exits(0, errors: "")
    #expect(try token.json["warnings"]?[0]?.stringValue?.contains("could not be stored") == true)
  }

  @Test func `An error of Graph has its exit code and the request's ID`() throws {
    try tool("get", "/me/nothing").exits(1, saying: "request ")
    #expect(try tool("get", "https://example.com/me").status == 2)
    #expect(try tool("get", "/me", with: ["LLAVERO_GRAPH_URL": nil]).status == 2)
    #expect(try tool("get", "/me", with: ["LLAVERO_GRAPH_URL": "http://localhost"]).status == 2)
    lab.inject(LabFault(.graph, count: 3, connection: .drop))
    #expect(try tool("get", "/me").status == 4)
    lab.clearFaults()
    lab.inject(LabFault(.graph, status: 401, body: "{}"))
    try tool("get", "/me").exits(3, saying: "llavero login")
    let more = (3...11).map { #",{"message":"m\#($0)"}"# }.joined()
    let details = #"[{"code":"x","target":"mail","message":"Taken."},{"message":"Too long."}\#(more)]"#
    lab.inject(
      LabFault(.graph, status: 400, body: #"{"error":{"code":"c","message":"No.","details":\#(details)}}"#))
    try tool("get", "/me").exits(1, saying: "No. (c): mail: Taken.; Too long.; m3", hiding: "m11")
  }
}
