import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct ImportTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test(arguments: PeerCache.all)
  func `A cache of another library is imported unchanged`(_ fixture: PeerCache) throws {
    let text = String(decoding: fixture.data, as: UTF8.self)
    var original = try #require(try JSONValue(text: text).withoutEmptySections.objectValue)
    // Bound tokens are stored, and exported to no program.
    original["AccessToken"] = original["AccessToken"]?.objectValue.map { tokens in
      .object(tokens.filter { $0.value["token_type"]?.stringValue?.lowercased() != "pop" })
    }
    let first = try tool.json("import", fixture.url.path)
    #expect(first.keys == ["group", "kept", "saved"])
    #expect(first["kept"] == .integer(0))
    #expect(try tool.exported() == .object(original))

    let second = try tool.json("import", "-", input: text)
    #expect(second["saved"] == .integer(0))
    #expect(second["kept"] == first["saved"])
    #expect(try tool.exported() == .object(original))
  }

  @Test func `An import adds records, and prints how many`() throws {
    let file = try tool.files.file("cache.json", Sample.cache)
    try tool("import", file, "--dry-run").exits(
      0, showing: "User.Read Mail.Read",
      "10 records would be imported into \(tool.group), 0 there already.\n")
    #expect(
      try tool("import", file).standardOutput == "10 records imported into \(tool.group), 0 there already.\n")
    let more = Sample.cache([
      Sample.refreshToken("bobs", Sample.bob, Sample.mail),
      Sample.refreshToken("new", Sample.bob, Sample.calendar),
    ])
    #expect(try tool.json("import", "-", input: more)["saved"] == .integer(1))
    #expect(try tool.json("list")["records"]?.arrayValue?.count == 11)
    #expect(try tool.files.contents("cache.json") == Sample.cache)
  }

  @Test func `An import keeps all refresh tokens of the imported cache`() throws {
    func token(_ key: String, _ secret: String, _ modified: Int) -> SampleRecord {
      .refreshToken(
        secret, key: key, of: Sample.alice, client: Sample.mail, host: Sample.host, time: modified)
    }
    // As MSAL for Python adds one when it is asked for other scopes.
    try tool.load([token("m", "mail", 5)])
    let two = Sample.cache([token("c", "calendar", 9), token("m", "mail", 5)])
    #expect(try tool.json("import", "-", input: two)["saved"] == .integer(1))
    #expect(try tool.exported() == JSONValue(text: two))
    #expect(try tool.json("import", "-", input: two)["saved"] == .integer(0))

    // Under keys of another spelling they are the same token, and the newest stays.
    try tool.load([token("x", "newest", 12), token("y", "newer", 11), token("m", "mail", 5)])
    #expect(try tool.exported()["RefreshToken"]?.secrets.sorted() == ["mail", "newest"])
  }

  @Test func `An empty cache is imported without effect`() throws {
    #expect(try tool.json("import", "-", input: #"{"AccessToken": {}}"#)["saved"] == .integer(0))
    #expect(try tool.json("list", "--groups")["groups"]?.strings("group").contains(tool.group) == false)
  }

  static let hostile: [Named<String>] = [
    Named("an empty file", ""), Named("a truncated cache", String(Sample.cache.dropLast(40))),
    Named("an array", "[]"),
    Named("a number", "1"), Named("other JSON", #"{"name": "package", "version": "1.0"}"#),
    Named("a section of another type", #"{"AccessToken": "secret-text"}"#), Named("NUL bytes", "\0\0\0\0"),
    Named("NUL bytes after the cache", Sample.cache + "\0\0"),
    Named("two caches", Sample.cache + Sample.cache),
    Named("100,000 levels", String(repeating: #"{"a":"#, count: 100_000)),
    Named(
      "600 levels", #"{"X":"# + String(repeating: "[", count: 600) + String(repeating: "]", count: 600) + "}"),
    Named("HTML", "<html>secret-html</html>"),
  ]

  @Test(arguments: hostile)
  func `A file that is not a cache is refused`(_ text: Named<String>) throws {
    let result = try tool(["import", try tool.files.file("input", text.value), "--json"]).exits(
      1, printing: "", hiding: "secret-")
    let error = try result.error
    #expect(error?["advice"]?.stringValue?.contains("AccessToken") == true)
    #expect(try tool.exported() == .object([:]))
  }

  @Test(arguments: ["/proc/nonexistent/cache.json", "/", "/dev/null", "/proc/self/mem"])
  func `An unreadable file is named`(_ path: String) throws {
    let result = try tool("import", path).exits(1)
    #expect(result.standardError.hasPrefix("llavero: \(path)"))
  }

  @Test func `A huge file is refused`() throws {
    let path = try tool.files.file("huge")
    #expect(truncate(path, 300 << 20) == 0)
    try tool("import", path, "--json").exits(1, code: "too_large")
  }

  @Test func `Deep nesting that the format allows survives`() throws {
    let deep = #"{"d":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}"
    let cache = String(Sample.cache.dropLast()) + #","X":\#(deep)}"#
    try tool.load(cache)
    #expect(try tool.exported() == JSONValue(text: cache))
  }

  @Test func `A long import shows its progress on a terminal`() throws {
    let accounts = (0..<20).map { Sample.account("u\($0).t", "user\($0)@x.example") }
    let file = try tool.files.file("cache.json", Sample.cache(accounts))
    try tool.onTerminal("import", file)
      .exits(0, saying: "\r\u{1B}[KImporting: 20 of 20 accounts\r\u{1B}[K20 records imported")
    #expect(try tool.onTerminal("import", file, with: ["TERM": "dumb"]).lines.count == 1)
    #expect(try tool("import", file).standardError.isEmpty)
  }
}
