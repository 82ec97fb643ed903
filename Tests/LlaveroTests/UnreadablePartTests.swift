import TestSupport

/// What commands do where a part of the group cannot be read: no account is reported as signed out because of it.
struct UnreadablePartTests {
  private let tool: Tool

  init() throws { tool = try Tool() }

  /// Makes the shard of an account one that cannot be read.
  private func damage(_ account: String) async throws {
    try await tool.create(account: account, secret: "{\"torn")
  }

  /// Makes a group of an account that can be read, and of one that cannot.
  private func damageBesideAlice() async throws {
    try tool.load(Sample.alices)
    try await damage(Sample.bob)
  }

  private func run(_ arguments: String...) throws -> Child.Result {
    try tool(arguments + ["--client", Sample.mail])
  }

  @Test(
    .fault("all unreadable"),
    arguments: [
      ["token"], ["status"], ["logout"], ["logout", "--all"], ["logout", "--browser"], ["login"],
      ["login", "--device-code"], ["get", "/me"], ["token", "--account", "alice@contoso.example"],
      ["token", "--account", Sample.alice], ["clear", "--yes"],
      ["clear", "--account", Sample.alice, "--yes"],
    ])
  func `A group without readable entries is damaged, not signed out`(_ command: [String]) async throws {
    try await damage(Sample.alice)
    let arguments = tool.inGroup(command) + ["--client", Sample.mail]
    try tool.run(arguments).exits(1, saying: "doctor --fix", hiding: "signed")
    try tool.run(arguments + ["--json"]).exits(1, code: "damaged")
  }

  @Test func `clear --all asks for an unreadable entry alone, and counts it`() async throws {
    try await damage(Sample.alice)
    try tool.onTerminal("clear", "--all", typing: "n\n")
      .exits(5, saying: "Remove 1 unreadable item from \(tool.group)?")
    try tool("clear", "--all", "--yes")
      .exits(0, printing: "1 unreadable item removed from \(tool.group).\n")
  }

  @Test(.fault("part unreadable"))
  func `Readable accounts are shown with a warning about the others`() async throws {
    try await damageBesideAlice()
    try run("status").exits(0, showing: "alice@contoso.example", saying: "doctor --fix")
    let json = try run("status", "--json").json
    #expect(json["problems"]?.strings("kind") == ["damaged"])
    #expect(json["accounts"]?.strings("username") == ["alice@contoso.example"])
  }

  @Test(.fault("part unreadable"))
  func `The only readable account is not the default account`() async throws {
    try await damageBesideAlice()
    for command in ["token", "logout", "login"] {
      try run(command).exits(1, printing: "", saying: "doctor --fix")
    }
    for account in ["alice@contoso.example", Sample.alice] {
      #expect(try run("token", "--account", account).standardOutput == "secret-at-valid\n")
    }
  }

  @Test(.fault("part unreadable"))
  func `logout --all reports that unreadable accounts may remain`() async throws {
    try await damageBesideAlice()
    try run("logout", "--all").exits(1, showing: "Signed out alice@contoso.example", saying: "doctor --fix")
  }

  @Test(.fault("misplaced"))
  func `A record in another account's shard is removed with its account`() async throws {
    try tool.load(Sample.alices)
    let stray = Sample.cache([
      Sample.refreshToken("bobs", Sample.bob, Sample.mail),
      Sample.refreshToken("stray", Sample.alice, Sample.calendar),
    ])
    try await tool.create(account: Sample.bob, secret: stray)
    let removed = try tool.json("clear", "--account", Sample.alice, "--yes")["removed"]?.arrayValue
    #expect(removed?.count == 5)
    #expect(try tool.exported().secrets == ["secret-rt-bobs"])
  }
}
