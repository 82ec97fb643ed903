import SecretService
import TestSupport

/// A keyring whose login collection holds one item.
struct KeyringWithItem {
  let keyring: PrivateKeyring
  let client: SecretServiceClient
  let attributes = ["test": "locked"]
  let collection: ObjectPath
  let item: ObjectPath

  init() async throws {
    keyring = try PrivateKeyring()
    client = SecretServiceClient(busAddress: keyring.busAddress, timeout: .seconds(600))
    collection = try await client.collection().path
    item = try await client.create(attributes, [7])
  }
}

@Suite(.timeLimit(.minutes(20)))
struct LockedCollectionTests {
  private let fixture: KeyringWithItem

  init() async throws { fixture = try await KeyringWithItem() }

  @Test func `A search in a locked collection returns its items as locked`() async throws {
    try fixture.keyring.lockCollection()
    let found = try await fixture.client.search(fixture.attributes, in: fixture.collection)
    #expect(found.unlocked.isEmpty)
    #expect(found.locked == [fixture.item])
    #expect(try await fixture.client.isLocked(fixture.collection))
    #expect(try await fixture.client.collection().isLocked)
  }

  @Test(.fault("locked")) func `A miss in a locked collection is not reported as a miss`() async throws {
    #expect(try await fixture.client.search(["test": "other"], in: fixture.collection).locked.isEmpty)
    try fixture.keyring.lockCollection()
    await expectFailure(.collectionLocked) {
      try await fixture.client.search(["test": "other"], in: fixture.collection)
    }
  }

  @Test func `Reading and writing a locked item fails as locked`() async throws {
    try fixture.keyring.lockCollection()
    let client = fixture.client
    await expectFailure(.collectionLocked) { try await client.secrets(of: [fixture.item]) }
    await expectFailure(.collectionLocked) {
      try await client.setSecret(SecretBytes(copying: [8]), of: fixture.item)
    }
    await expectFailure(.collectionLocked) {
      try await client.create(["test": "new"], in: fixture.collection)
    }
  }

  @Test func `Unlocking without permission to prompt fails and does not harm the service`() async throws {
    try fixture.keyring.lockCollection()
    #expect(try await fixture.client.isLocked(fixture.collection))
    // The second time without another prompt.
    for _ in 0..<2 {
      await expectFailure(.collectionLocked) { try await fixture.client.unlock(fixture.collection) }
    }
    try fixture.keyring.unlockCollection()
    try await fixture.client.unlock(fixture.collection)
    #expect(try await fixture.client.bytes(of: fixture.item) == [7])
  }

  @Test(.fault("no prompt")) func `A prompt that cannot be shown counts as dismissed`() async throws {
    try fixture.keyring.lockCollection()
    await expectFailure(.promptDismissed) {
      try await fixture.client.unlock(fixture.collection, prompt: .allowed(waitingUpTo: .seconds(600)))
    }
    #expect(try await fixture.client.isLocked(fixture.collection))
  }

  @Test func `A keyring that was never unlocked shows its items as locked`() async throws {
    try fixture.keyring.restartDaemon(unlocked: false)
    let client = SecretServiceClient(busAddress: fixture.keyring.busAddress)
    let collection = try await client.collection()
    #expect(collection.isLocked)
    let found = try await client.search(fixture.attributes, in: collection.path)
    #expect(found.unlocked.isEmpty)
    #expect(found.locked.count == 1)
  }
}
