import SecretService
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ItemTests {
  let client: SecretServiceClient

  init() throws {
    client = SecretServiceClient(busAddress: try PrivateKeyring.shared.get().busAddress)
  }

  @Test(arguments: [
    [UInt8]("a secret".utf8), [UInt8]("Grüße, 世界 🗝".utf8), [], [0, 1, 0, 255, 0],
    [UInt8](repeating: 0xA5, count: 1 << 20),
  ])
  func `A secret comes back as it was stored`(bytes: [UInt8]) async throws {
    let collection = try await client.collection()
    let item = try await client.create(
      label: "Round trip", attributes: ["test": "round trip"], secret: SecretBytes(copying: bytes),
      in: collection.path)
    let secret = try #require(await client.secrets(of: [item])[item])
    #expect(secret.withUnsafeBytes { Array($0) } == bytes)
    try await client.delete(item)
  }

  @Test func `An item has the label and attributes it was given`() async throws {
    let collection = try await client.collection()
    let attributes = ["xdg:schema": "org.example.Test", "größe": "klein, 小", "empty": ""]
    let path = try await client.create(
      label: "Etikett 🗝", attributes: attributes, secret: SecretBytes(copying: [1]), in: collection.path)
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
    let item = try await client.create(
      label: "Replace", attributes: attributes, secret: SecretBytes(copying: [1]), in: collection.path)
    try await client.setSecret(SecretBytes(copying: [2, 3]), of: item)
    #expect(try await client.search(attributes, in: collection.path).unlocked == [item])
    let secret = try #require(await client.secrets(of: [item])[item])
    #expect(secret.withUnsafeBytes { Array($0) } == [2, 3])
    try await client.delete(item)
  }
}
