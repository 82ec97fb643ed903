import GLibSupport
import SecretService
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct MalformedAnswerTests {
  private let item = FakeService.collection + "/1"

  @Test(.fault("nonsense")) func `An answer of another type is malformed`() async throws {
    let service = try FakeService([
      "ReadAlias": .reply([.string("not a path")]),
      "SearchItems": .reply([.boolean(true)]),
      "Collections": .reply([.variant(.string("none"))]),
    ])
    let client = service.client()
    await #expect(throws: SecretServiceError.malformedAnswer("ReadAlias")) { try await client.collection() }
    await #expect(throws: SecretServiceError.malformedAnswer("SearchItems")) { try await client.search([:]) }
    await #expect(throws: SecretServiceError.malformedAnswer("Collections")) {
      try await client.collections()
    }
  }

  @Test(
    .fault("nonsense"),
    arguments: [
      Named("a text", [Variant.variant(.string("false"))]), Named("no variant", [.boolean(false)]),
      Named("nothing", []),
    ])
  func `Whoever does not say whether it is locked is taken for neither`(
    _ answer: Named<[Variant]>
  ) async throws {
    let service = try FakeService([
      "GetSecrets": .reply([.array(of: "{o(oayays)}", [])]),
      "SearchItems": .reply([.objectPaths([item]), .objectPaths([])]),
    ])
    let client = service.client()
    let collection = try await client.collection().path
    let found = try await client.search([:], in: collection).unlocked
    service.setAnswer("Locked", .reply(answer.value))
    service.setAnswer("SearchItems", .reply([.objectPaths([]), .objectPaths([])]))
    // GDBus sees that the answer to the method Get is none, this project that its value is no boolean.
    let malformed = SecretServiceError.malformedAnswer(answer.name == "a text" ? "Locked" : "Get")
    await #expect(throws: malformed) { try await client.isLocked(collection) }
    await #expect(throws: malformed) { try await client.collection() }
    await #expect(throws: malformed) { try await client.search([:], in: collection) }
    await #expect(throws: malformed) { try await client.secrets(of: found) }
  }

  @Test(.fault("nonsense"))
  func `An item that does not say whether it is locked is malformed`() async throws {
    let service = try FakeService([
      "SearchItems": .reply([.objectPaths([item]), .objectPaths([])])
    ])
    let client = service.client()
    let found = try #require(try await client.search([:]).unlocked.first)
    for locked in [["Locked": Variant.string("false")], [:]] {
      let others: [String: Variant] = ["Attributes": .dictionary([:]), "Label": .string("")]
      service.setAnswer("GetAll", .reply([.properties(others.merging(locked) { $1 })]))
      await #expect(throws: SecretServiceError.malformedAnswer("GetAll")) { try await client.item(found) }
    }
  }

  @Test(.fault("nonsense", "session keys"))
  func `A secret that cannot be decoded is malformed`() async throws {
    let foreign = Variant.tuple([
      .objectPath("/another/session"), .bytes([]), .bytes([1]), .string("text/plain"),
    ])
    let service = try FakeService([
      "SearchItems": .reply([.objectPaths([item]), .objectPaths([])]),
      "GetSecrets": .reply([.secrets([(item, foreign)])]),
    ])
    let client = service.client()
    let found = try await client.search([:]).unlocked
    await #expect(throws: SecretServiceError.malformedAnswer("GetSecrets")) {
      try await client.secrets(of: found)
    }
    // Asked a second time in a new session; each time an encrypted one is asked for first.
    #expect(service.calls.count { $0 == "GetSecrets" } == 2)
    #expect(service.calls.count { $0 == "OpenSession" } == 4)
  }

  @Test(.fault("plain session"))
  func `A service that refuses encryption gets and gives no secret, unless that is allowed`()
    async throws
  {
    let service = try FakeService(["SearchItems": .reply([.objectPaths([item]), .objectPaths([])])])
    let found = try #require(try await service.client().search([:]).unlocked.first)
    let client = SecretServiceClient(busAddress: service.keyring.busAddress)
    let secret = SecretBytes(copying: [7])
    for _ in 0..<2 {
      await #expect(throws: SecretServiceError.encryptionRefused) {
        try await client.setSecret(secret, of: found)
      }
      await #expect(throws: SecretServiceError.encryptionRefused) { try await client.secrets(of: [found]) }
      await #expect(throws: SecretServiceError.encryptionRefused) { try await client.collection() }
    }
    #expect(service.calls.filter { $0 != "OpenSession" } == ["SearchItems"])
  }

  @Test(.fault("session keys"))
  func `A session that is refused is asked for once more, with another key`() async throws {
    let name = "org.freedesktop.DBus.Error.InvalidArgs"
    let service = try FakeService(["OpenSession": .error(name)])
    await #expect(throws: SecretServiceError.refused(name: name, message: "fake")) {
      try await service.client().collection()
    }
    #expect(service.calls.count { $0 == "OpenSession" } == 2)
  }

  @Test func `An unknown error is passed on with its name`() async throws {
    let service = try FakeService(["SearchItems": .error("org.example.Error.Odd")])
    await #expect(throws: SecretServiceError.refused(name: "org.example.Error.Odd", message: "fake")) {
      try await service.client().search([:])
    }
  }

  @Test(.fault("no collection")) func `No default collection is not an empty one`() async throws {
    let service = try FakeService(["ReadAlias": .reply([.objectPath("/")])])
    await #expect(throws: SecretServiceError.noSuchCollection("default")) {
      try await service.client().collection()
    }
  }

  @Test(.fault("oo7 early")) func `A service that has no collection yet is asked again`() async throws {
    let there = FakeService.Answer.reply([.objectPath(FakeService.collection)])
    let service = try FakeService(["ReadAlias": .inTurn(.reply([.objectPath("/")]), then: there)])
    #expect(try await service.client().collection().label == "Fake")
    service.setAnswer(
      "Collections",
      .inTurn(
        .reply([.variant(.objectPaths([]))]), then: .reply([.variant(.objectPaths([FakeService.collection]))])
      ))
    #expect(try await service.client().collection(named: "Fake").label == "Fake")
  }

  @Test(
    .fault("session keys"),
    arguments: [
      "org.freedesktop.Secret.Error.NoSession", "org.qtproject.QtDBus.Error.InvalidObjectPath",
    ])
  func `A lost session makes the client open another`(error: String) async throws {
    let service = try FakeService(["SearchItems": .error(error)])
    let client = service.client()
    await #expect(throws: SecretServiceError.serviceGone) { try await client.search([:]) }
    service.setAnswer("SearchItems", .reply([.objectPaths([]), .objectPaths([])]))
    #expect(try await client.search([:]).unlocked.isEmpty)
    // Each time an encrypted one is asked for first.
    #expect(service.calls.count { $0 == "OpenSession" } == 4)
  }
}

extension Variant {
  fileprivate static func secrets(_ entries: [(String, Variant)]) -> Variant {
    Variant.array(of: "{o(oayays)}", entries.map { .entry(.objectPath($0.0), $0.1) })
  }
}
