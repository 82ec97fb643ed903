import LabSupport

/// What a person does with the tool, on the keyring that `TEST_KEYRING` names.
@Suite(.timeLimit(.minutes(20)))
struct ProviderStoryTests {
  @Test(.lab) func `Sign-in, token, renewal, import, export and clear work on the keyring`() throws {
    let provider = KeyringProvider.chosen
    let permission = provider.promptsForWrites ? ["--unlock"] : []
    let tool = try Tool.atLab(on: PrivateKeyring(provider: provider))
    func run(_ words: String..., input: String = "") throws -> String {
      try tool.run(words + permission, input: input).required().standardOutput
    }
    #expect(try tool.onDevice(["login", "--device-code"] + permission).status == 0)
    let token = try run("token")
    #expect(try run("token") == token)
    #expect(try run("token", "--force-refresh") != token)
    #expect(try run("status").contains(Tool.alice))
    let exported = try run("export")
    #expect(try run("clear", "--all", "--yes").contains("removed"))
    #expect(try !run("list", "--groups").contains(tool.group))
    _ = try run("import", "-", input: exported)
    #expect(try run("status").contains(Tool.alice))
    _ = try run("clear", "--all", "--yes")
  }

  @Test func `A hundred accounts are imported, listed and exported`() throws {
    let provider = KeyringProvider.chosen
    let tool = try Tool(on: PrivateKeyring(provider: provider))
    let cache = Sample.cache((0..<100).map { Sample.account("\($0).t", "u\($0)@contoso.com") })
    let options = ["--json"] + (provider.promptsForWrites ? ["--unlock"] : [])
    try tool(["import", "-"] + options, input: cache).required()
    #expect(try tool(["list"] + options).required().json["records"]?.arrayValue?.count == 100)
  }
}
