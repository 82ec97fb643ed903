import GLibSupport
import SecretService
import TestSupport
import Testing

/// What is not there must be told from what cannot be seen at the moment.
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
      "SearchItems": .reply([.objectPaths([item]), .objectPaths([])]),
      "GetSecrets": .reply([.array(of: "{o(oayays)}", [])]),
      "Locked": .error("org.freedesktop.DBus.Error.UnknownMethod"),
    ])
  }

  @Test(.fault("ends in order"), arguments: Call.allCases)
  func `Objects that a service which ends took off the bus are not deleted ones`(call: Call) async throws {
    let service = try service()
    let client = service.client()
    let item = try #require(try await client.search([:]).unlocked.first)
    await #expect(throws: SecretServiceError.serviceGone) { try await call.run(client, item) }
  }

  @Test(arguments: Call.allCases)
  func `What a service that is there does not know is gone`(call: Call) async throws {
    let service = try service()
    service.setAnswer("Collections", .reply([.variant(.objectPaths([]))]))
    let client = service.client()
    let item = try #require(try await client.search([:]).unlocked.first)
    if call == .secrets { return try await call.run(client, item) }
    await #expect(throws: SecretServiceError.noSuchItem) { try await call.run(client, item) }
  }

  @Test func `A collection unlocked right after it was searched is searched again`() async throws {
    let service = try service()
    service.setAnswer("Locked", .reply([.variant(.boolean(false))]))
    service.setAnswer(
      "SearchItems",
      .inTurn(
        .reply([.objectPaths([]), .objectPaths([])]), then: .reply([.objectPaths([item]), .objectPaths([])])))
    let client = service.client()
    #expect(try await client.search([:], in: client.collection().path).unlocked.count == 1)
  }

  @Test func `A secret left out of an item that is there is that of a locked one`() async throws {
    let service = try service()
    service.setAnswer("Locked", .reply([.variant(.boolean(false))]))
    let client = service.client()
    let found = try await client.search([:]).unlocked
    await #expect(throws: SecretServiceError.collectionLocked) { try await client.secrets(of: found) }
  }
}
