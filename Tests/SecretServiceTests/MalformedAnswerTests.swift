import SecretService
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct MalformedAnswerTests {
  private let item = FakeService.collection + "/1"

  @Test(.fault("nonsense")) func `A reply of another type is malformed`() async throws {
    let service = try FakeService([
      "ReadAlias": .reply([.string("not a path")]),
      "SearchItems": .reply([.boolean(true)]),
      "Collections": .property(.string("none")),
    ])
    let client = service.client()
    await expectFailure(.malformedResponse("ReadAlias")) { try await client.collection() }
    await expectFailure(.malformedResponse("SearchItems")) { try await client.search([:]) }
    await expectFailure(.malformedResponse("Collections")) { try await client.collections() }
  }

  @Test(
    .fault("nonsense"),
    arguments: [
      Named("a text", [Variant.variant(.string("false"))]), Named("no variant", [.boolean(false)]),
      Named("nothing", []),
    ])
  func `A collection that does not report whether it is locked is malformed`(
    _ answer: Named<[Variant]>
  ) async throws {
    let (service, client, collection) = try await FakeService.connected([
      "GetSecrets": .secrets([:]), "SearchItems": .found([item]),
    ])
    let found = try await client.search([:], in: collection).unlocked
    service.setAnswer("Locked", .reply(answer.value))
    service.setAnswer("SearchItems", .found())
    // GDBus checks the reply to the method Get, this project that its value is a boolean.
    let malformed = SecretServiceError.malformedResponse(answer.name == "a text" ? "Locked" : "Get")
    await #expect(throws: malformed) { try await client.isLocked(collection) }
    await #expect(throws: malformed) { try await client.collection() }
    await #expect(throws: malformed) { try await client.search([:], in: collection) }
    await #expect(throws: malformed) { try await client.secrets(of: found) }
  }

  @Test(.fault("nonsense"))
  func `An item that does not report whether it is locked is malformed`() async throws {
    let service = try FakeService(["SearchItems": .found([item])])
    let client = service.client()
    let found = try #require(try await client.search([:]).unlocked.first)
    for locked in [["Locked": Variant.string("false")], [:]] {
      let others: [String: Variant] = ["Attributes": .dictionary([:]), "Label": .string("")]
      service.setAnswer("GetAll", .reply([.properties(others.merging(locked) { $1 })]))
      await expectFailure(.malformedResponse("GetAll")) { try await client.item(found) }
    }
  }

  @Test(.fault("nonsense", "session keys"))
  func `A secret that cannot be decoded is malformed`() async throws {
    let foreign = Variant.tuple([
      .objectPath("/another/session"), .bytes([]), .bytes([1]), .string("text/plain"),
    ])
    let service = try FakeService(["SearchItems": .found([item]), "GetSecrets": .secrets([item: foreign])])
    let client = service.client()
    let found = try await client.search([:]).unlocked
    await expectFailure(.malformedResponse("GetSecrets")) { try await client.secrets(of: found) }
    // Asked a second time in a new session; each time an encrypted one is asked for first.
    #expect(service.calls.count { $0 == "GetSecrets" } == 2)
    #expect(service.calls.count { $0 == "OpenSession" } == 4)
  }

  @Test(.fault("plain session"))
  func `A service that refuses encryption receives and returns no secret, unless that is allowed`()
    async throws
  {
    let service = try FakeService(["SearchItems": .found([item])])
    let found = try #require(try await service.client().search([:]).unlocked.first)
    let client = SecretServiceClient(busAddress: service.keyring.busAddress)
    let secret = SecretBytes(copying: [7])
    for _ in 0..<2 {
      await expectFailure(.encryptionRefused) { try await client.setSecret(secret, of: found) }
      await expectFailure(.encryptionRefused) { try await client.secrets(of: [found]) }
      await expectFailure(.encryptionRefused) { try await client.collection() }
    }
    #expect(service.calls.filter { $0 != "OpenSession" } == ["SearchItems"])
  }

  /// In the way of KWallet without its plugin, which grants a plain session.
  @Test(.fault("session keys", "plain session"))
  func `A refused session is requested again with another key, then a plain one if that is allowed`()
    async throws
  {
    let refusal = FakeService.Answer.error("org.freedesktop.DBus.Error.InvalidArgs")
    let service = try FakeService([
      "SearchItems": .found([item]), "GetSecrets": .secrets([item: .secret([1, 2])]), "SetSecret": .reply([]),
      "GetAll": .item([:]),
    ])
    service.setAnswer(
      "OpenSession",
      .computed {
        let session = [.variant(.string("")), .objectPath(FakeService.session)] as [Variant]
        return $0[0].string == "plain" ? .reply(session) : refusal
      })
    let client = SecretServiceClient(busAddress: service.keyring.busAddress)
    await expectFailure(.encryptionRefused) { try await client.collection() }
    #expect(service.calls == ["OpenSession", "OpenSession"])
    let allowed = service.client()
    let found = try #require(try await allowed.search([:]).unlocked.first)
    #expect(try await allowed.bytes(of: found) == [1, 2])
    let sent = Mutex<[Variant]>([])
    service.setAnswer(
      "SetSecret",
      .computed { arguments in
        sent.withLock { $0 = arguments }
        return .reply([])
      })
    try await allowed.setSecret(SecretBytes(copying: [3, 4]), of: found)
    let arguments = sent.withLock(\.self)
    let secret = try #require(arguments.first).children
    #expect(secret[0].string == FakeService.session && secret[3].string == "text/plain")
    let bytes = secret[1...2].map { member in member.withBytes { Array($0) } }
    #expect(bytes == [[], [3, 4]])
    service.setAnswer("OpenSession", refusal)
    let name = "org.freedesktop.DBus.Error.InvalidArgs"
    await expectFailure(.refused(name: name, message: "fake")) { try await service.client().collection() }
  }

  @Test(arguments: ["org.example.Error.Odd", "org.freedesktop.zbus.Error"])
  func `An unknown error is passed on with its name`(name: String) async throws {
    let service = try FakeService(["SearchItems": .error(name)])
    await expectFailure(.refused(name: name, message: "fake")) {
      try await service.client().search([:])
    }
  }

  @Test(.fault("no collection")) func `A missing default collection is not an empty one`() async throws {
    let service = try FakeService(["ReadAlias": .reply([.objectPath("/")])])
    await expectFailure(.noSuchCollection("default")) { try await service.client().collection() }
  }

  @Test(.fault("oo7 early")) func `A service without collections yet is called again`() async throws {
    let there = FakeService.Answer.reply([.objectPath(FakeService.collection)])
    let service = try FakeService(["ReadAlias": .inTurn(.reply([.objectPath("/")]), then: there)])
    #expect(try await service.client().collection().label == "Fake")
    let other = FakeService.collection + "2"
    let alias = "/org/freedesktop/secrets/aliases/fake"
    service.setAnswer(
      "Collections",
      .inTurn(
        .property(.objectPaths([])),
        then: .property(.objectPaths([FakeService.collection, other, alias]))))
    // Of several that have a name the first counts.
    for (name, path) in [
      ("Fake", FakeService.collection), ("fake", FakeService.collection), ("fake2", other),
    ] {
      #expect(try await service.client().collection(named: name).path.description == path)
    }
  }

  @Test(
    .fault("session keys"),
    arguments: [
      "org.freedesktop.Secret.Error.NoSession", "org.qtproject.QtDBus.Error.InvalidObjectPath",
    ])
  func `After a lost session the client opens another`(error: String) async throws {
    let service = try FakeService(["SearchItems": .error(error)])
    let client = service.client()
    await expectFailure(.serviceGone) { try await client.search([:]) }
    service.setAnswer("SearchItems", .found())
    #expect(try await client.search([:]).unlocked.isEmpty)
    // Three times, since a search is repeated once; each time an encrypted one is asked for first.
    #expect(service.calls.count { $0 == "OpenSession" } == 6)
  }
}

/// Missing objects must be distinguished from those that are invisible for the moment.
@Suite(.timeLimit(.minutes(20)))
struct MissingObjectTests {
  private let item = FakeService.collection + "/1"

  enum Call: CaseIterable {
    case item, secrets, setSecret, delete

    func run(_ client: SecretServiceClient, _ item: ObjectPath) async throws {
      switch self {
      case .item: _ = try await client.item(item)
      case .secrets: _ = try await client.secrets(of: [item])
      case .setSecret: try await client.setSecret(SecretBytes(copying: [1]), of: item)
      case .delete: try await client.delete(item)
      }
    }
  }

  private func service() throws -> FakeService {
    try FakeService([
      "SearchItems": .found([item]), "GetSecrets": .secrets([:]),
      "Locked": .error("org.freedesktop.DBus.Error.UnknownMethod"),
    ])
  }

  @Test(.fault("ends in order"), arguments: Call.allCases, [false, true])
  func `An object counts as missing only while the service runs`(call: Call, isRunning: Bool) async throws {
    let service = try service()
    if isRunning { service.setAnswer("Collections", .property(.objectPaths([]))) }
    let client = service.client()
    let item = try #require(try await client.search([:]).unlocked.first)
    if isRunning, call == .secrets {
      #expect(try await client.secrets(of: [item]).isEmpty)
      return
    }
    await expectFailure(isRunning ? .noSuchItem : .serviceGone) { try await call.run(client, item) }
  }

  @Test(.fault("locked"), arguments: Call.allCases)
  func `An object counts as missing only while its collection is unlocked`(call: Call) async throws {
    let service = try service()
    service.setAnswer("Collections", .property(.objectPaths([FakeService.collection])))
    // As KeePassXC does, which takes the items of a locked database off the bus.
    service.setAnswer(
      "Locked",
      .computed { arguments in
        arguments[0].string == "org.freedesktop.Secret.Collection"
          ? .locked(true) : .error("org.freedesktop.DBus.Error.UnknownObject")
      })
    let client = service.client()
    let item = try #require(try await client.search([:]).unlocked.first)
    await expectFailure(.collectionLocked) { try await call.run(client, item) }
  }

  @Test(.fault("KWallet")) func `An item that is gone keeps no other secret`() async throws {
    let gone = FakeService.collection + "/2"
    let service = try service()
    service.setAnswer("SearchItems", .found([item, gone]))
    service.setAnswer("Collections", .property(.objectPaths([])))
    service.setAnswer(
      "GetSecrets",
      .computed { [item] arguments in
        arguments[0].strings == [item]
          ? .secrets([item: .secret([1])]) : .error("org.freedesktop.DBus.Error.InvalidArgs")
      })
    service.setAnswer(
      "Locked", .inTurn(.locked(false), then: .error("org.freedesktop.DBus.Error.UnknownObject")))
    let client = service.client()
    let found = try await client.search([:]).unlocked
    #expect(try await client.secrets(of: found).keys.map(\.path) == [item])
    // The reason is another one.
    let name = "org.freedesktop.DBus.Error.InvalidArgs"
    service.setAnswer("GetSecrets", .error(name))
    service.setAnswer("Locked", .locked(false))
    await expectFailure(.refused(name: name, message: "fake")) { try await client.secrets(of: found) }
  }

  @Test func `A secret that was not asked for hides no other, nor does an item that is gone`() async throws {
    let others = ["/0", "/2"].map { FakeService.collection + $0 }
    let service = try service()
    service.setAnswer("SearchItems", .found([others[0], item]))
    service.setAnswer("Collections", .property(.objectPaths([])))
    let answer = (others + [item]).map { Variant.entry(.objectPath($0), .secret([1])) }
    service.setAnswer("GetSecrets", .reply([.array(of: "{o(oayays)}", Array(answer.dropFirst()))]))
    let client = service.client()
    let found = try await client.search([:]).unlocked
    #expect(try await client.secrets(of: found).keys.map(\.path) == [item])
    // The first is gone. The second exists and was left out: it was locked.
    service.setAnswer("GetSecrets", .secrets([:]))
    let gone = FakeService.Answer.error("org.freedesktop.DBus.Error.UnknownObject")
    service.setAnswer("Locked", .inTurn(gone, then: .locked(false)))
    await expectFailure(.collectionLocked) { try await client.secrets(of: found) }
  }

  @Test(.fault("KWallet"), arguments: [false, true])
  func `An empty secret is one only where its item is unlocked`(isLocked: Bool) async throws {
    let service = try service()
    service.setAnswer("GetSecrets", .secrets([item: .secret([])]))
    service.setAnswer("Locked", .locked(isLocked))
    let client = service.client()
    let found = try await client.search([:]).unlocked
    if isLocked {
      await expectFailure(.collectionLocked) { try await client.secrets(of: found) }
    } else {
      #expect(try await client.secrets(of: found).values.map(\.count) == [0])
    }
  }

  @Test func `A collection unlocked right after it was searched is searched again`() async throws {
    let service = try service()
    service.setAnswer("Locked", .locked(false))
    service.setAnswer("SearchItems", .inTurn(.found(), then: .found([item])))
    let client = service.client()
    #expect(try await client.search([:], in: client.collection().path).unlocked.count == 1)
  }
}
