import GLibSupport
import KeyringStore
import SecretService
import TestSupport
import Testing
import TokenCache

/// What KeePassXC does with its factory settings, by a stand-in: it locks items in an unlocked collection
/// (ConfirmAccessItem), and answers no search before a locked database was opened (UnlockBeforeSearch).
@Suite(.timeLimit(.minutes(20)))
struct ConfirmedAccessTests {
  private static let item = FakeService.collection + "/1"
  private let unlocked = FakeService.Answer.reply([.objectPaths([item]), .objectPaths([])])
  private let locked = FakeService.Answer.reply([.objectPaths([]), .objectPaths([item])])
  private let group = "org.example.shared"

  private func service(_ answers: [String: FakeService.Answer]) throws -> FakeService {
    let item = FakeService.Answer.reply([
      .properties([
        "Attributes": .dictionary(["xdg:schema": "org.llavero.TokenCache", "group": group]),
        "Label": .string(""), "Locked": .boolean(false),
      ])
    ])
    let prompt = FakeService.Answer.reply([.objectPaths([]), .objectPath(FakeService.prompt)])
    return try FakeService(["GetAll": item, "Unlock": prompt].merging(answers) { $1 })
  }

  private func store(_ service: FakeService, prompt: PromptPermission) -> KeyringCacheStore {
    KeyringCacheStore(
      prompt: prompt, timeout: .seconds(600), allowsPlainSession: true,
      busAddress: service.keyring.busAddress, environment: service.keyring.environment)
  }

  @Test func `Locked items in an unlocked collection are not empty, and the setting is named`() async throws {
    let service = try service(["SearchItems": locked])
    let store = store(service, prompt: .denied)
    let error = await #expect(throws: CacheError.self) { try await store.groups() }
    #expect(error?.code == .locked && error?.advice?.contains("ConfirmAccessItem") == true)
    await #expect(throws: CacheError(.locked, "")) {
      try await store.read(.all, in: KeychainGroup(group))
    }
    #expect(!service.calls.contains("Prompt"))
  }

  @Test func `With permission the person is asked for the items`() async throws {
    // Two searches before the prompt: what is wanted, and all that may be wanted next.
    let service = try service([
      "SearchItems": .inTurn(locked, then: .inTurn(locked, then: unlocked)),
      "Prompt": .completion(.objectPaths([Self.item])),
    ])
    let groups = try await store(service, prompt: .allowed(waitingUpTo: .seconds(600))).groups()
    #expect(groups == [try KeychainGroup(group)])
  }

  @Test func `A locked collection is not searched, and is opened first where that is permitted`() async throws
  {
    let service = try service([
      "SearchItems": .silence, "Locked": .reply([.variant(.boolean(true))]),
      "Prompt": .completion(.objectPaths([FakeService.collection])),
    ])
    await #expect(throws: CacheError(.locked, "")) { try await store(service, prompt: .denied).groups() }
    #expect(!service.calls.contains("SearchItems"))
    service.setAnswer("SearchItems", unlocked)
    service.setAnswer(
      "Locked", .inTurn(.reply([.variant(.boolean(true))]), then: .reply([.variant(.boolean(false))])))
    let groups = try await store(service, prompt: .allowed(waitingUpTo: .seconds(600))).groups()
    #expect(groups == [try KeychainGroup(group)])
    let calls = service.calls
    let (prompt, search) = (calls.firstIndex(of: "Prompt"), calls.firstIndex(of: "SearchItems"))
    #expect(try #require(prompt) < #require(search))
  }
}
