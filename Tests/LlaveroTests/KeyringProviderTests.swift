import SecretService
import TestSupport

/// What the tool says where a keyring does otherwise than gnome-keyring.
@Suite(.timeLimit(.minutes(20)))
struct KeyringProviderTests {
  private static let item = FakeService.collection + "/1"
  private let none = FakeService.Answer.reply([.objectPaths([]), .objectPaths([])])
  private let unlocked = FakeService.Answer.reply([.objectPaths([item]), .objectPaths([])])
  private let locked = FakeService.Answer.reply([.objectPaths([]), .objectPaths([item])])

  @Test(.fault("confirm access"))
  func `A keyring that asks for each item exits with 3, and its setting is named`() throws {
    let prompt = FakeService.Answer.reply([.objectPaths([]), .objectPath(FakeService.prompt)])
    let service = try FakeService(["SearchItems": locked, "Unlock": prompt])
    try Tool(on: service.keyring).run(["groups", "--allow-plain-session"])
      .exits(3, saying: "ConfirmAccessItem", "--unlock")
  }

  @Test(.fault("confirm access")) func `The doctor reports a keyring that asks for each item`() throws {
    let service = try FakeService([
      "Collections": .reply([.variant(.objectPaths([FakeService.collection]))]),
      "CreateItem": .reply([.objectPath(Self.item), .objectPath("/")]),
      "GetAll": .item(["Uuid": "1"]),
      "SetSecret": .reply([]), "Delete": .reply([.objectPath("/")]),
      "GetSecrets": .reply([
        .array(
          of: "{o(oayays)}",
          [
            .entry(
              .objectPath(Self.item),
              .tuple([
                .objectPath(FakeService.session), .bytes([]), .bytes(Array("second".utf8)),
                .string("text/plain"),
              ]))
          ])
      ]),
      // The probe's, another program's, twice that of what is gone, and those of the groups.
      "SearchItems": .inTurn(
        unlocked, then: .inTurn(locked, then: .inTurn(none, then: .inTurn(none, then: locked)))),
      "Unlock": .reply([.objectPaths([]), .objectPath(FakeService.prompt)]),
    ])
    let result = try Tool(on: service.keyring).run(["doctor", "--allow-plain-session"])
    let lines = result.standardOutput.split(separator: "\n")
    let probe = try #require(lines.firstIndex { $0.contains("asks each time") }, "\(result.standardOutput)")
    #expect(lines[probe + 1].contains("ConfirmAccessItem"))
    #expect(lines.contains { $0.hasPrefix("warning") && $0.contains("before a program may read") })
  }

  @Test(.fault("no display"), .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
  func `KWallet without a display makes --unlock exit with 5, with the reason`() throws {
    let tool = try Tool(on: PrivateKeyring(provider: .kwallet))
    try tool.keyring.restartDaemon(unlocked: false)
    try tool.run(["groups", "--unlock"]).exits(5, saying: "cannot ask for its password: there is no display")
    #expect(try tool.run(["groups"]).status == 3)
  }

  @Test(
    .fault("KWallet killed"), .enabled(if: KeyringProvider.kwallet.isInstalled, "kwalletd5 is not installed"))
  func `The doctor reports when KWallet writes`() throws {
    let report = try Tool(on: PrivateKeyring(provider: .kwallet)).run(["doctor"])
    #expect(report.standardOutput.contains("after five seconds without a change"))
  }

  @Test(.fault("quiet end"))
  func `A keyring that ends while a session is opened leaves only the tool's message`() throws {
    let service = try FakeService(["OpenSession": .error("org.freedesktop.DBus.Error.NoReply")])
    let result = try Tool(on: service.keyring).run(["groups"]).exits(1)
    #expect(result.standardError.hasPrefix("llavero: ") && !result.standardError.contains("CRITICAL"))
  }

  @Test(
    .fault("empty items"),
    arguments: [["clear", "--all", "--yes"], ["clear", "--damaged"], ["doctor", "--fix"]])
  func `A group with only an empty item left can be removed`(command: [String]) async throws {
    // The doctor opens several sessions, after which gnome-keyring 42.1 may end by itself; the bus starts it again.
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    try await tool.create(shard: "0123456789abcdef", secret: "")
    #expect(try tool("groups").standardOutput.contains(tool.group))
    try tool.run(command[0] == "doctor" ? command : tool.inGroup(command)).exits(0)
    #expect(try await tool.items().isEmpty)
    #expect(try !tool("groups").standardOutput.contains(tool.group))
  }
}
