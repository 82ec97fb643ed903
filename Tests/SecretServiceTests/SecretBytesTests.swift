import SecretService
import TestSupport
import Testing

struct SecretBytesTests {
  @Test func `What a secret holds does not show when it is printed`() {
    let secret = SecretBytes(copying: Array("hunter2".utf8))
    var dumped = ""
    dump(secret, to: &dumped)
    for text in [
      "\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped,
    ] {
      #expect(!text.contains("hunter2"))
      #expect(text.contains("7"))
    }
  }

  @Test func `A secret keeps its bytes and content type`() {
    let secret = SecretBytes(copying: [0, 1, 2], contentType: "application/json")
    #expect(secret.count == 3)
    #expect(secret.contentType == "application/json")
    #expect(secret.withUnsafeBytes { Array($0) } == [0, 1, 2])
    #expect(SecretBytes(copying: []).count == 0)
    #expect(SecretBytes(copying: UnsafeRawBufferPointer(start: nil, count: 0)).count == 0)
  }

  @Test func `A secret over the limit is refused before it is sent`() async throws {
    let client = SecretServiceClient(busAddress: try PrivateKeyring.shared.get().busAddress)
    let collection = try await client.collection()
    let size = SecretServiceClient.maximumSecretSize + 1
    let secret = SecretBytes(copying: [UInt8](repeating: 0, count: size))
    await #expect(throws: SecretServiceError.itemTooLarge(size: size, limit: size - 1)) {
      try await client.create(label: "Big", attributes: ["test": "big"], secret: secret, in: collection.path)
    }
  }
}
