import Glibc
import TestSupport
import Testing
import TokenCache

/// `copy` between the keyring and encrypted files.
@Suite(.timeLimit(.minutes(20)))
struct CopyTests {
  private let tool: Tool
  private let files: TemporaryDirectory
  private let key: [String]

  init() throws {
    files = try TemporaryDirectory()
    tool = try Tool(settings: ["XDG_DATA_HOME": files.path])
    key = ["--key", "file:" + (try files.keyFile())]
  }

  private func run(_ arguments: String..., input: String = "") throws -> Child.Result {
    try tool(arguments + key, input: input)
  }

  private func json(_ arguments: String...) throws -> JSONValue {
    try tool(arguments + key + ["--json"]).exits(0).json
  }

  /// What a store holds of the group.
  private func contents(of store: String) throws -> JSONValue {
    try run("export", "--store", store).json
  }

  @Test(arguments: [("keyring", "file"), ("file", "keyring")])
  func `A copy has all of the group, and one that is made again changes nothing`(
    _ source: String, _ target: String
  ) throws {
    try #require(try run("import", "-", "--store", source, input: Sample.cache).status == 0)
    let preview = try json("copy", "--from-store", source, "--to-store", target, "--dry-run")
    #expect(preview["dry_run"] == .bool(true))
    #expect(preview["saved"] == .integer(10))
    #expect(preview["records"]?.arrayValue?.count == 10)
    #expect(try contents(of: target).secrets.isEmpty)

    // What is not said of a side is what --store says.
    let first = try run("copy", "--store", source, "--to-store", target).exits(0)
    let place = target == "file" ? "in the file store" : "in the keyring"
    #expect(first.standardOutput == "10 records copied into \(tool.group), \(place), 0 there already.\n")
    #expect(try contents(of: target) == contents(of: source))

    let second = try json("copy", "--from-store", source, "--to-store", target)
    #expect(second["from"] == .string(source) && second["to"] == .string(target))
    #expect(second["accounts"] == .integer(2))
    #expect(second["saved"] == .integer(0) && second["kept"] == .integer(10))
    #expect(try contents(of: target) == contents(of: source))
  }

  @Test func `What the other store has stays, and of two records for one thing the newer`() throws {
    let old = Sample.cache([
      Sample.account(Sample.alice, "alice@contoso.example"),
      Sample.refreshToken("alices", Sample.alice, Sample.mail),
      Sample.accessToken("theirs", Sample.alice, Sample.calendar, "Tasks.Read", expiresOn: Sample.future),
      Sample.accessToken("old", Sample.bob, Sample.mail, "Mail.Send", expiresOn: Sample.future),
    ])
    let new = Sample.cache([
      Sample.account(Sample.bob, "bob@contoso.example"),
      Sample.accessToken("new", Sample.bob, Sample.mail, "Mail.Send", expiresOn: Sample.future)
        .replacing(#""cached_at": "\#(Sample.past)""#, with: #""cached_at": "1767225700""#),
    ])
    try #require(try run("import", "-", "--store", "file", input: old).status == 0)
    try #require(try run("import", "-", "--store", "keyring", input: new).status == 0)
    #expect(try run("copy", "--from-store", "keyring", "--to-store", "file").status == 0)
    let copied = try contents(of: "file").secrets
    #expect(copied.contains("secret-at-theirs") && copied.contains("secret-at-new"))
    #expect(!copied.contains("secret-at-old"))
    // And back: the older store takes what it lacks, and loses nothing.
    #expect(try run("copy", "--from-store", "file", "--to-store", "keyring").status == 0)
    #expect(try contents(of: "keyring") == contents(of: "file"))
  }

  @Test(.fault("copy unreadable"))
  func `What cannot be read is named and left, and the rest is copied`() async throws {
    try #require(try run("import", "-", "--store", "keyring", input: Sample.cache).status == 0)
    let carol = "0c0c0c0c-3333-4333-8333-333333333333.aaaaaaaa-0000-4000-8000-00000000000a"
    let shard = ShardID(homeAccountID: carol, group: try KeychainGroup(tool.group))
    try await tool.create(shard: shard.rawValue, secret: "{\"torn")
    let items = try await tool.items()

    let text = try run("copy", "--from-store", "keyring", "--to-store", "file").exits(1)
    #expect(text.standardOutput.hasPrefix("10 records copied"))
    #expect(text.standardError.contains("clear --damaged") && text.standardError.contains("The copy lacks"))
    let result = try run("copy", "--from-store", "keyring", "--to-store", "file", "--json").exits(1)
    #expect(try result.json["problems"]?.strings("kind") == ["damaged"])
    #expect(try result.error?["code"] == "incomplete")
    #expect(try contents(of: "file").secrets.count == contents(of: "keyring").secrets.count)
    #expect(try await tool.items() == items)
  }

  @Test func `A store is not copied onto itself, and nothing is not copied`() throws {
    for arguments in [["copy"], ["copy", "--from-store", "file", "--to-store", "file"]] {
      try tool(arguments).exits(2, saying: "--to-store")
    }
    try run("copy", "--to-store", "file", "--json").exits(1, code: "not_found")
  }
}
