import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct TableTests {
  let tool: Tool

  init() throws {
    tool = try Tool()
    try tool.load([
      Sample.account(Sample.alice, "山田太郎@例え.example", name: "山田 太郎"),
      Sample.account(Sample.bob, "e\u{301}ve@contoso.example", name: "É"),
      Sample.accessToken("a", Sample.alice, Sample.mail, "User.Read Mail.Read", expiresOn: Sample.future),
      Sample.accessToken("b", Sample.bob, Sample.mail, "User.Read", expiresOn: Sample.past),
    ])
  }

  @Test(arguments: [40, 60, 80, 100, 132, 250])
  func `Tables fit the terminal`(_ width: Int) throws {
    // With it the account is signed in.
    try tool.load([Sample.refreshToken("r", Sample.alice, Sample.mail)])
    for command in [["list"], ["list", "--groups"], ["status"]] {
      let lines = try tool.onTerminal(tool.inGroup(command), columns: width) { _, _ in nil }.lines
      #expect(lines.count > 1)
      for line in lines { #expect(columns(line) <= width, "\(line)") }
      if command == ["list"], lines.contains(where: { $0.contains("…") }) {
        #expect(lines.contains { columns($0) == width }, "\(lines)")
      }
    }
  }

  @Test(arguments: [80, 100, 250])
  func `Columns are aligned for every script`(_ width: Int) throws {
    let lines = try tool.onTerminal("list", columns: width).lines.drop { !$0.hasPrefix("ID ") }
    #expect(lines.count == 5)
    let starts = lines.map { line in
      ["EXPIRES", "-", "expired", "d ago"].contains { line.hasSuffix($0) }
        ? columns(line.replacing(/(EXPIRES|-|expired|[0-9]+ d ago)$/, with: "")) : -1
    }
    #expect(Set(starts).count == 1, "\(lines)")
  }

  @Test func `A table in a file is neither cut nor coloured`() throws {
    let text = try tool("list").standardOutput
    #expect(text.contains("山田太郎@例え.example"))
    #expect(text.contains(Sample.mail))
    #expect(!text.contains("\u{1B}") && !text.contains("…"))
  }

  /// For each width of the terminal the widths of the columns.
  @Test(arguments: [
    (155, [8, 27, 17, 30, 36, 27]), (154, [8, 27, 17, 30, 35, 27]), (81, [8, 12, 17, 9, 9, 16]),
    (80, [8, 12, 17, 9, 9, 15]), (59, [8, 6, 17, 6, 6, 6]), (16, [1, 1, 1, 1, 1, 1]),
  ])
  func `The column furthest above its least width is cut first`(_ width: Int, _ widths: [Int]) throws {
    let tool = try Tool()
    let (tenant, scope) = (String(repeating: "r", count: 30), String(repeating: "s", count: 27))
    try tool.load([
      Sample.account("u.t", "u@contoso.example"),
      .accessToken(
        "s", key: "s", of: "v.t", client: Sample.mail, realm: tenant, scopes: scope,
        ["credential_type": "AccessToken_With_AuthScheme"]),
    ])
    let lines = try tool.onTerminal("list", columns: width).exits(0).lines
    let (header, token) = (try #require(lines.first), try #require(lines.last))
    let titles = Screening.row(["ID", "TYPE", "ACCOUNT", "TENANT", "CLIENT", "SCOPES"], widths)
    #expect(titles.hasPrefix(header), "\(lines)")
    let cells = [String(token.prefix(8)), "AccessToken_With_AuthScheme", "v.t", tenant, Sample.mail, scope]
    #expect(token == Screening.row(cells, widths), "\(lines)")
  }

  /// A terminal that does not say its width is 80 columns wide.
  @Test(arguments: [
    (["--client", Sample.mail], 0, [17, 6, 6, 13, 21, 7]),
    (["--client", Sample.mail], 86, [17, 6, 6, 16, 24, 7]),
    (["--client", Sample.mail], 87, [17, 6, 6, 17, 24, 7]),
    ([], 85, [17, 16, 7, 6, 16, 13]), ([], 86, [17, 16, 7, 6, 16, 14]),
  ])
  func `The columns of status are cut in the same order`(
    _ client: [String], _ width: Int, _ widths: [Int]
  ) throws {
    let tool = try Tool()
    let (user, name) = ("u@contoso.example", String(repeating: "n", count: 30))
    let (tenant, scope) = (String(repeating: "r", count: 30), String(repeating: "s", count: 27))
    try tool.load([
      Sample.account(Sample.alice, user, name: name), Sample.refreshToken("r", Sample.alice, Sample.mail),
      .accessToken("s", key: "s", of: Sample.alice, client: Sample.mail, realm: tenant, scopes: scope),
    ])
    let all = [user, name, "1", "own", "login.windows.net", Sample.alice]
    let cells = client.isEmpty ? all : [user, "own", "yes", tenant, scope, "-"]
    let lines = try tool.onTerminal(tool.inGroup(["status"] + client), columns: width) { _, _ in nil }
      .exits(0).lines
    let row = try #require(lines.last)
    // The last column is not padded.
    #expect(Screening.row(cells, widths).hasPrefix(row) && row.count > width - 7, "\(lines)")
  }

  @Test func `Colours are for terminals that want them`() throws {
    #expect(try tool.onTerminal("list").text.contains("\u{1B}[1mID"))
    #expect(try tool.onTerminal("list", with: ["NO_COLOR": ""]).text.contains("\u{1B}["))
    try tool.onTerminal("list", "--groups", columns: 250).exits(0, hiding: "\u{1B}[33m0")
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      try tool.onTerminal("list", with: environment).exits(0, hiding: "\u{1B}")
    }
  }

  /// The columns that a line takes, for the characters in these tests.
  private func columns(_ line: String) -> Int {
    line.unicodeScalars.reduce(0) { sum, scalar in
      switch scalar.value {
      case 0x300..<0x370: sum
      case 0x3000..<0xA000: sum + 2
      default: sum + 1
      }
    }
  }
}
