import LabSupport

/// What a person does with the tool, on the keyring that `TEST_KEYRING` names.
@Suite(.timeLimit(.minutes(20)))
struct ProviderStoryTests {
  @Test(.lab) func `Sign-in, token, renewal, import, export and clear work on the keyring`() throws {
    let provider = KeyringProvider.chosen
    let permission = provider.promptsForWrites ? ["--unlock"] : []
    let tool = try Tool.atLab(on: PrivateKeyring(provider: provider))
    func run(_ words: String..., input: String = "") throws -> String {
      let result = try tool.run(words + permission, input: input)
      try #require(result.status == 0, "\(words): \(result.standardError)")
      return result.standardOutput
    }
    #expect(try tool.onDevice(["login", "--device-code"] + permission).status == 0)
    let token = try run("token")
    #expect(try run("token") == token)
    #expect(try run("token", "--force-refresh") != token)
    #expect(try run("status").contains(Tool.alice))
    let exported = try run("export")
    #expect(try run("clear", "--all", "--yes").contains("removed"))
    #expect(try !run("groups").contains(tool.group))
    _ = try run("import", "-", input: exported)
    #expect(try run("accounts").contains(Tool.alice))
    _ = try run("clear", "--all", "--yes")
  }

  @Test func `A hundred accounts are imported, listed and exported`() throws {
    let provider = KeyringProvider.chosen
    let tool = try Tool(on: PrivateKeyring(provider: provider))
    let accounts = (0..<100).map { number in
      #""\#(number).t-e-t": {"home_account_id": "\#(number).t", "environment": "login.microsoftonline.com", "#
        + #""realm": "t", "local_account_id": "\#(number)", "username": "u\#(number)@contoso.com", "#
        + #""authority_type": "MSSTS"}"#
    }
    let cache = #"{"Account": {\#(accounts.joined(separator: ", "))}}"#
    func run(_ words: String..., input: String = "") throws -> JSONValue {
      let words = words + ["--json"] + (provider.promptsForWrites ? ["--unlock"] : [])
      let result = try tool(words, input: input)
      try #require(result.status == 0, "\(words): \(result.standardError)")
      return try result.json
    }
    _ = try run("import", "-", input: cache)
    #expect(try run("accounts")["accounts"]?.arrayValue?.count == 100)
  }
}
