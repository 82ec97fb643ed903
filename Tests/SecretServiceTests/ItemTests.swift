import SecretService
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct ItemTests {
  let client: SecretServiceClient

  init() throws {
    client = SecretServiceClient(busAddress: try PrivateKeyring.shared.get().busAddress)
  }

  @Test(arguments: [
    Named("ASCII", [UInt8]("a secret".utf8)), Named("Unicode", [UInt8]("Grüße, 世界 🗝".utf8)),
    Named("nothing", []), Named("binary", [0, 1, 0, 255, 0]),
    Named("1 MiB", [UInt8](repeating: 0xA5, count: 1 << 20)),
  ])
  func `A secret comes back as it was stored`(secret: Named<[UInt8]>) async throws {
    let item = try await client.create(["test": "round trip"], secret.value)
    #expect(try await client.bytes(of: item) == secret.value)
    try await client.delete(item)
  }

  @Test func `An item has the label and attributes it was given`() async throws {
    let attributes = ["xdg:schema": "org.example.Test", "größe": "klein, 小", "empty": ""]
    let path = try await client.create(attributes, label: "Etikett 🗝")
    let item = try await client.item(path)
    #expect(item.label == "Etikett 🗝")
    #expect(item.attributes == attributes)
    #expect(!item.isLocked)
    #expect(item.created > 1_600_000_000)
    #expect(item.modified >= item.created)
    try await client.delete(path)
  }

  @Test func `Replacing a secret leaves one item with the new secret`() async throws {
    let collection = try await client.collection()
    let attributes = ["test": "replace"]
    let item = try await client.create(attributes)
    try await client.setSecret(SecretBytes(copying: [2, 3]), of: item)
    #expect(try await client.search(attributes, in: collection.path).unlocked == [item])
    #expect(try await client.bytes(of: item) == [2, 3])
    try await client.delete(item)
  }

  @Test func `Many secrets come with one call`() async throws {
    let collection = try await client.collection()
    var written: [ObjectPath: [UInt8]] = [:]
    for number in 0..<40 as Range<UInt8> {
      let item = try await client.create(["test": "many", "number": "\(number)"], [number])
      written[item] = [number]
    }
    let found = try await client.search(["test": "many"], in: collection.path)
    #expect(Set(found.unlocked) == Set(written.keys))
    let secrets = try await client.secrets(of: found.unlocked)
    #expect(secrets.mapValues { $0.withUnsafeBytes { Array($0) } } == written)
    for item in found.unlocked { try await client.delete(item) }
  }

  @Test func `An item that was deleted is gone for every call`() async throws {
    let collection = try await client.collection()
    let attributes = ["test": "deleted"]
    let item = try await client.create(attributes)
    try await client.delete(item)
    #expect(try await client.search(attributes, in: collection.path).unlocked.isEmpty)
    #expect(try await client.secrets(of: [item]).isEmpty)
    await #expect(throws: SecretServiceError.noSuchItem) { try await client.item(item) }
    await #expect(throws: SecretServiceError.noSuchItem) { try await client.delete(item) }
    await #expect(throws: SecretServiceError.noSuchItem) {
      try await client.setSecret(SecretBytes(copying: [2]), of: item)
    }
  }

  @Test func `A search is confined to the collection`() async throws {
    let attributes = ["test": "confined"]
    let login = try await client.collection().path
    let session = try await client.collection(named: "session").path
    let items = [
      try await client.create(attributes, in: login), try await client.create(attributes, in: session),
    ]
    #expect(try await client.search(attributes, in: login).unlocked == [items[0]])
    #expect(try await client.search(attributes, in: session).unlocked == [items[1]])
    #expect(try await Set(client.search(attributes).unlocked) == Set(items))
    for item in items { try await client.delete(item) }
  }

  @Test func `The session with the service is encrypted`() async throws {
    let algorithms = try await client.perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.sessionAlgorithms(cancellable)
    }
    #expect(algorithms == "dh-ietf1024-sha256-aes128-cbc-pkcs7")
  }
}
