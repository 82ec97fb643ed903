import KeyringStore
import SecretService
import TestSupport

/// What KeePassXC does with its factory settings, by a stand-in: it locks items in an unlocked collection
/// (ConfirmAccessItem), and answers no search before a locked database was opened (UnlockBeforeSearch).
@Suite(.timeLimit(.minutes(20)))
struct ConfirmedAccessTests {
  private static let item = FakeService.collection + "/1"
  private let group = "org.example.shared"

  private func service(_ answers: [String: FakeService.Answer]) throws -> FakeService {
    let item = FakeService.Answer.item(["xdg:schema": "org.llavero.TokenCache", "group": group])
    return try FakeService(["GetAll": item, "Unlock": .unlockPrompt].merging(answers) { $1 })
  }

  @Test(.requirement("R5.3"), .fault("confirm access"))
  func `Locked items in an unlocked collection are not empty, and the setting is named`() async throws {
    let service = try service(["SearchItems": .found(locked: [Self.item])])
    let store = service.store(timeout: .seconds(600))
    let error = await expectCacheError(.locked) { try await store.groups() }
    #expect(error?.advice?.contains("ConfirmAccessItem") == true)
    await expectCacheError(.locked) { try await store.read(.all, in: KeychainGroup(group)) }
    #expect(!service.calls.contains("Prompt"))
  }

  @Test(.fault("confirm access"))
  func `With permission one prompt asks for all items of the group`() async throws {
    let shards = try ["1.t", "2.t"].map { ShardID(homeAccountID: $0, group: try KeychainGroup(group)) }
    let items = [Self.item, FakeService.collection + "/2"]
    let state = Mutex((asked: [String](), allowed: [String]()))
    // The first has the shard that is wanted.
    let search = FakeService.Answer.computed { arguments in
      let found = arguments[0].dictionary?["shard"] != nil ? [items[0]] : items
      let allowed = state.withLock { $0.allowed }
      return .found(found.filter(allowed.contains), locked: found.filter { !allowed.contains($0) })
    }
    let service = try service([
      "SearchItems": search,
      "Unlock": .computed { arguments in
        state.withLock { $0.asked = arguments[0].strings ?? [] }
        return .unlockPrompt
      },
      "Prompt": .computed { _ in
        state.withLock { state in
          state.allowed += state.asked
          return .completion(.objectPaths(state.asked))
        }
      },
    ])
    let store = service.store(prompt: .allowed(waitingUpTo: .seconds(600)), timeout: .seconds(600))
    _ = try await store.read(.some([shards[0]]), in: KeychainGroup(group))
    #expect(state.withLock { $0.allowed.sorted() } == items)
    #expect(try await store.groups() == [try KeychainGroup(group)])
    #expect(service.calls.count { $0 == "Prompt" } == 1)
  }

  @Test(.fault("unlock first"))
  func `A locked collection is not searched, and is opened first where that is permitted`() async throws {
    let service = try service([
      "SearchItems": .silence, "Locked": .locked(true),
      "Prompt": .completion(.objectPaths([FakeService.collection])),
    ])
    await expectCacheError(.locked) { try await service.store(timeout: .seconds(600)).groups() }
    #expect(!service.calls.contains("SearchItems"))
    service.setAnswer("SearchItems", .found([Self.item]))
    service.setAnswer("Locked", .inTurn(.locked(true), then: .locked(false)))
    let groups = try await service.store(prompt: .allowed(waitingUpTo: .seconds(600)), timeout: .seconds(600))
      .groups()
    #expect(groups == [try KeychainGroup(group)])
    let calls = service.calls
    let (prompt, search) = (calls.firstIndex(of: "Prompt"), calls.firstIndex(of: "SearchItems"))
    #expect(try #require(prompt) < #require(search))
  }
}
