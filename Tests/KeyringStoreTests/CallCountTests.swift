import KeyringStore
import SecretService
import TestSupport

/// How many calls an operation takes, and what a writer may take from its memory.
@Suite(.timeLimit(.minutes(20)))
struct CallCountTests {
  private let first = SampleToken("first", account: 0, scope: "api://sample/same")
  private let second = SampleToken("second", account: 0, scope: "api://sample/same")
  private let third = SampleToken("third", account: 0, scope: "api://sample/same")
  private let fixture: Fixture

  init() async throws { fixture = try await Fixture(saving: first) }

  @Test func `A second save reads the items without a search and writes one`() async throws {
    // Whether the keyring keeps what is changed in place is asked once.
    for (token, calls) in [
      (second, ["GetSecrets", "GetAll", "SetSecret"]), (third, ["GetSecrets", "SetSecret"]),
    ] {
      let log = try await fixture.keyring.logOfCalls { try await fixture.cache.save(token) }
      #expect(log == calls)
      #expect(try await fixture.otherCache().finds(token))
    }
  }

  @Test func `A read asks for the default collection's path and lock alone`() async throws {
    for (selection, calls) in [
      (.some([fixture.shard(first)]), ["ReadAlias", "Get", "SearchItems", "GetAll", "GetSecrets"]),
      (.all, ["ReadAlias", "Get", "SearchItems", "SearchItems", "GetSecrets"]),
    ] as [(ShardSelection, [String])] {
      let log = try await fixture.keyring.logOfCalls {
        _ = try await fixture.store.read(selection, in: fixture.group)
      }
      #expect(log == calls)
    }
  }

  @Test func `Many accounts are read in few calls`() async throws {
    for number in 1...20 { try await fixture.cache.save(SampleToken("\(number)", account: number)) }
    let log = try await fixture.keyring.logOfCalls {
      _ = try await fixture.store.read(.all, in: fixture.group)
    }
    // For 2 items, 16 and 3.
    #expect(log.count { $0 == "GetSecrets" } == 3)
  }

  @Test func `A save after another program's searches again`() async throws {
    try await fixture.otherCache().save(second)
    let log = try await fixture.keyring.logOfCalls { try await fixture.cache.save(third) }
    #expect(log.count { $0 == "SearchItems" } == 2)
    #expect(try await fixture.items(fixture.shard(first)).count == 1)
    #expect(try await fixture.otherCache().finds(third))
  }

  @Test func `A save overwrites nothing that a program which says nothing has changed`() async throws {
    let other = SampleToken("other", account: 0)
    let path = try await fixture.item(first).properties.path
    let text = try await fixture.shardText(other)
    try await fixture.client.setSecret(SecretBytes(copying: text), of: path)
    try await fixture.cache.save(second)
    for token in [other, second] { #expect(try await fixture.otherCache().finds(token)) }
  }

  @Test func `A save finds its place again when its item was deleted`() async throws {
    try await fixture.client.delete(fixture.item(first).properties.path)
    try await fixture.cache.save(second)
    #expect(try await fixture.otherCache().finds(second))
  }

  @Test func `A save leaves alone what has the path of its item by now`() async throws {
    let path = try await fixture.item(first).properties.path
    // gnome-keyring gives no path twice while it runs; so it would look.
    let cancellable = Cancellable(timeout: .seconds(120))
    let bus = try BusConnection(address: fixture.keyring.busAddress, cancellable)
    _ = try bus.call(
      "org.freedesktop.secrets", path.description, "org.freedesktop.DBus.Properties", "Set",
      [
        .string("org.freedesktop.Secret.Item"), .string("Attributes"),
        .variant(.dictionary(["theirs": "1"])),
      ], reply: "()", cancellable)
    try await fixture.client.setSecret(SecretBytes(copying: Array("not ours".utf8)), of: path)
    try await fixture.cache.save(second)
    #expect(try await fixture.otherCache().finds(second))
    let theirs = try #require(try await fixture.items(["theirs": "1"]).first)
    #expect(theirs.properties.path == path)
    #expect(theirs.secret == Array("not ours".utf8))
  }

  @Test func `A save to an account that this process has not saved to finds its item`() async throws {
    let fixture = try Fixture()
    let (old, new) = (SampleToken("old", account: 1), SampleToken("new", account: 1))
    try await fixture.otherCache().save(old)
    try await fixture.cache.save(first)
    let log = try await fixture.keyring.logOfCalls { try await fixture.cache.save(new) }
    #expect(log.count { $0 == "GetSecrets" } == 1)
    #expect(try await fixture.items(fixture.shard(new)).count == 1)
    for token in [old, new] { #expect(try await fixture.otherCache().finds(token)) }
  }

  @Test(.fault("killed")) func `A save after the keyring was restarted searches again`() async throws {
    let next = SampleToken("next", account: 0)
    try fixture.keyring.restartDaemon()
    try await fixture.cache.save(next)
    for token in [first, next] { #expect(try await fixture.otherCache().finds(token)) }
    #expect(try await fixture.allItems().count == 2)
  }
}
