import SecretService
import TestSupport

// Changes that prompts answer keep to one pace in the process, and so would those of another test.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct PromptTests {
  private let item = FakeService.collection + "/1"

  /// Waits until the service was asked to show its prompt.
  private func shown(_ service: FakeService) async throws {
    try await eventually { service.calls.contains("Prompt") }
  }

  @Test(.fault("prompt answered")) func `An answered prompt unlocks the collection`() async throws {
    let (service, client, collection) = try await FakeService.connected(["Unlock": .unlockPrompt])
    async let unlocked: Void = client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(300)))
    try await shown(service)
    // Other calls do not wait for the user.
    #expect(try await !client.isLocked(collection))
    service.completePrompt(dismissed: false, .objectPaths([FakeService.collection]))
    try await unlocked
  }

  @Test(.fault("no prompt")) func `A dismissed prompt is an error of its own`() async throws {
    let (service, client, collection) = try await FakeService.connected(["Unlock": .unlockPrompt])
    let unlocking = Task { try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(300))) }
    try await shown(service)
    service.completePrompt(dismissed: true, .objectPaths([]))
    await expectFailure(.promptDismissed) { try await unlocking.value }
  }

  @Test func `A service that neither unlocks the collection nor prompts leaves it locked`() async throws {
    let (service, client, collection) = try await FakeService.connected([
      "Unlock": .reply([.objectPaths([]), .objectPath("/")])
    ])
    await expectFailure(.collectionLocked) {
      try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(300)))
    }
    #expect(!service.calls.contains("Prompt"))
  }

  @Test(.fault("prompt hangs"))
  func `An unanswered prompt is abandoned and never dismissed`() async throws {
    let (service, client, collection) = try await FakeService.connected(["Unlock": .unlockPrompt])
    await expectFailure(.timedOut) {
      try await client.unlock(collection, prompt: .allowed(waitingUpTo: .milliseconds(200)))
    }
    let unlocking = Task { try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(600))) }
    try await shown(service)
    unlocking.cancel()
    await expectFailure(.cancelled) { try await unlocking.value }
    // The service has answered everything that was sent before this.
    _ = try await client.collection()
    #expect(!service.calls.contains("Dismiss"))
  }

  @Test(.fault("prompt hangs")) func `No prompt is made while one for the same is open`() async throws {
    let (service, client, collection) = try await FakeService.connected([
      "Unlock": .unlockPrompt, "Locked": .locked(true),
    ])
    let other = service.client()
    let abandoned = Task { try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(600))) }
    try await shown(service)
    abandoned.cancel()
    await expectFailure(.cancelled) { try await abandoned.value }
    for _ in 0..<2 {
      await expectFailure(.timedOut) {
        try await client.unlock(collection, prompt: .allowed(waitingUpTo: .milliseconds(200)))
      }
    }
    let first = Task { try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(600))) }
    // One that gives up takes nothing from the other.
    let second = Task { try await other.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(600))) }
    second.cancel()
    await expectFailure(.cancelled) { try await second.value }
    // Where the first has not begun to wait yet.
    service.setAnswer("Unlock", .reply([.objectPaths([FakeService.collection]), .objectPath("/")]))
    service.completePrompt(dismissed: false, .objectPaths([FakeService.collection]))
    try await first.value
    #expect(service.calls.count { $0 == "Prompt" } == 1)
    // Nor while another call may make one.
    service.setAnswer("Unlock", .silence)
    let unlocks = service.calls.count { $0 == "Unlock" }
    let waiting = Task { try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(600))) }
    try await eventually { service.calls.count { $0 == "Unlock" } > unlocks }
    await expectFailure(.timedOut) {
      try await other.unlock(collection, prompt: .allowed(waitingUpTo: .milliseconds(500)))
    }
    #expect(service.calls.count { $0 == "Unlock" } == unlocks + 1)
    waiting.cancel()
    await expectFailure(.cancelled) { try await waiting.value }
  }

  @Test(.fault("prompt hangs")) func `What was unlocked elsewhere needs no answer to a prompt`() async throws
  {
    let (service, client, collection) = try await FakeService.connected([
      "Unlock": .unlockPrompt, "Locked": .locked(true),
    ])
    await expectFailure(.timedOut) {
      try await client.unlock(collection, prompt: .allowed(waitingUpTo: .milliseconds(200)))
    }
    service.setAnswer("Locked", .locked(false))
    service.setAnswer("Unlock", .reply([.objectPaths([FakeService.collection]), .objectPath("/")]))
    try await client.unlock(collection, prompt: .allowed(waitingUpTo: .seconds(600)))
  }

  /// A service that reports its collection as locked, and kwalletd6 beside it, as since KDE Frameworks 6.14.
  private func withKWallet(
    isKsecretd: Bool = true, isOpen: FakeService.Answer
  ) throws -> (service: FakeService, wallets: FakeService) {
    let service = try FakeService(
      ["Unlock": .unlockPrompt],
      names: ["org.freedesktop.secrets"] + (isKsecretd ? ["org.kde.ksecretd"] : []))
    return (service, try FakeService(["isOpen": isOpen], on: service.keyring, names: ["org.kde.kwalletd6"]))
  }

  @Test(.fault("ksecretd"))
  func `An open wallet of ksecretd is unlocked without permission if kwalletd6 reports it as open`()
    async throws
  {
    let (service, wallets) = try withKWallet(isOpen: .reply([.boolean(true)]))
    let client = service.client()
    let collection = try await client.collection().path
    async let unlocked: Void = client.unlock(collection)
    try await shown(service)
    service.completePrompt(dismissed: false, .objectPaths([FakeService.collection]))
    try await unlocked
    #expect(wallets.calls.contains("isOpen"))
  }

  @Test(.fault("ksecretd"))
  func `A prompt for an open wallet that was dismissed without being shown is repeated, five times at most`()
    async throws
  {
    let (service, wallets) = try withKWallet(isOpen: .reply([.boolean(true)]))
    let client = service.client()
    let collection = try await client.collection().path
    let dismissed = FakeService.Answer.completion(.objectPaths([]), dismissed: true)
    var answer = FakeService.Answer.completion(.objectPaths([FakeService.collection]))
    for _ in 0..<4 { answer = .inTurn(dismissed, then: answer) }
    service.setAnswer("Prompt", answer)
    try await client.unlock(collection)
    service.setAnswer("Prompt", dismissed)
    await expectFailure(.promptDismissed) { try await client.unlock(collection) }
    #expect(service.calls.count { $0 == "Prompt" } == 10)
    withExtendedLifetime(wallets) {}
  }

  @Test(
    .fault("ksecretd"),
    arguments: [
      (true, FakeService.Answer.reply([.boolean(false)])), (true, .reply([.string("yes")])),
      (true, .error("org.freedesktop.DBus.Error.UnknownMethod")),
      // Another service's collection has the name of an open wallet.
      (false, .reply([.boolean(true)])),
    ])
  func `No prompt is shown for a closed wallet, or for another service's collection`(
    isKsecretd: Bool, answer: FakeService.Answer
  ) async throws {
    let (service, wallets) = try withKWallet(isKsecretd: isKsecretd, isOpen: answer)
    let client = service.client()
    let collection = try await client.collection().path
    await expectFailure(.collectionLocked) { try await client.unlock(collection) }
    #expect(isKsecretd ? wallets.calls.contains("isOpen") : wallets.calls.isEmpty)
    #expect(!service.calls.contains("Prompt"))
  }

  @Test(.fault("locked")) func `Without permission no prompt is shown`() async throws {
    let replaces = Mutex<[Bool?]>([])
    let (service, client, collection) = try await FakeService.connected([
      "Unlock": .unlockPrompt, "Delete": .removalPrompt,
      "CreateItem": .computed { arguments in
        replaces.withLock { $0.append(arguments[2].boolean) }
        return .creationPrompt
      },
      "SearchItems": .found([item]), "Prompt": .completion(.objectPath(item)),
      "GetAll": .item(["xdg:content-type": "text/plain"]),
    ])
    let found = try #require(await client.search([:], in: collection).unlocked.first)
    service.setAnswer("Locked", .locked(true))
    for _ in 0..<2 { await expectFailure(.collectionLocked) { try await client.unlock(collection) } }
    #expect(service.calls.count { $0 == "Unlock" } == 1)
    await expectFailure(.promptRequired) { try await client.delete(found) }
    // That neither KWallet nor ksecretd runs ends no session: an encrypted one was asked for, and then a plain one.
    #expect(service.calls.count { $0 == "OpenSession" } == 2)
    await expectFailure(.promptRequired) { try await client.create([:], in: collection) }
    // As in oo7, where a new item takes the place of one that is changed.
    await expectFailure(.promptRequired) { try await client.setSecret(SecretBytes(copying: [2]), of: found) }
    #expect(replaces.withLock(\.self) == [false, true])
    #expect(!service.calls.contains("Prompt"))
    #expect(!service.calls.contains("Dismiss"))
  }

  @Test func `A service that makes items by prompt returns the item's path`() async throws {
    let (service, client, collection) = try await FakeService.connected(["CreateItem": .creationPrompt])
    async let created = client.create([:], in: collection, prompt: .allowed(waitingUpTo: .seconds(300)))
    try await shown(service)
    service.completePrompt(dismissed: false, .objectPath(item))
    #expect(try await created.description == item)
  }

  @Test(.fault("confirm access"))
  func `Items that are locked in an unlocked collection are unlocked by a prompt of their own`()
    async throws
  {
    let service = try FakeService([
      "SearchItems": .found(locked: [item]), "Unlock": .unlockPrompt,
      "Prompt": .completion(.objectPaths([item])),
    ])
    let locked = try await service.client().search([:]).locked
    func unlock(prompt: Bool) async throws {
      try await service.client().perform { (connection, cancellable) throws(SecretServiceError) in
        let items = try connection.search([:], in: nil, cancellable).locked
        try connection.unlock(items: items, prompt: prompt, cancellable)
      }
    }
    let error = await #expect(throws: SecretServiceError.self) { try await unlock(prompt: false) }
    #expect(error == .itemsLocked(locked) && error?.advice?.contains("ConfirmAccessItem") == true)
    #expect(!service.calls.contains("Prompt"))
    try await unlock(prompt: true)
    // A result for the collection does not count for the items.
    service.setAnswer("Prompt", .completion(.objectPaths([FakeService.collection])))
    await expectFailure(.itemsLocked(locked)) { try await unlock(prompt: true) }
  }

  @Test(.fault("KeePassXC saves"))
  func `Changes that a service answers by prompts come in bursts, with time to save in between`()
    async throws
  {
    let (service, client, collection) = try await FakeService.connected([
      "CreateItem": .creationPrompt, "Delete": .removalPrompt, "SetSecret": .reply([]),
      "GetAll": .item([:]), "Prompt": .completion(.objectPath(item)),
    ])
    @Sendable func change() async throws {
      for _ in 0..<10 {
        let path = try await client.create([:], in: collection, prompt: .allowed(waitingUpTo: .seconds(300)))
        try await client.setSecret(SecretBytes(copying: [2]), of: path)
        try await client.delete(path, prompt: .allowed(waitingUpTo: .seconds(300)))
      }
    }
    async let other: Void = change()
    try await change()
    try await other
    service.expectBursts(ofAtLeast: 60)
  }

  @Test(.fault("KeePassXC saves"))
  func `The time to save begins when the user has answered`() async throws {
    let (service, client, collection) = try await FakeService.connected(["CreateItem": .creationPrompt])
    @Sendable func create() async throws {
      _ = try await client.create([:], in: collection, prompt: .allowed(waitingUpTo: .seconds(300)))
    }
    // The second one begins a burst that the answer ends.
    service.setAnswer("Prompt", .inTurn(.completion(.objectPath(item)), then: .reply([])))
    try await create()
    async let slow: Void = create()
    try await eventually { service.calls.count { $0 == "Prompt" } == 2 }
    // The user takes longer than a burst, which the next change would go on with otherwise.
    try await Task.sleep(for: .milliseconds(300))
    service.setAnswer("Prompt", .completion(.objectPath(item)))
    let answered = ContinuousClock.now
    service.completePrompt(dismissed: false, .objectPath(item))
    try await slow
    try await create()
    let last = try #require(service.timedCalls.last { $0.method == "CreateItem" })
    #expect(last.time - answered >= .milliseconds(1500))
  }
}
