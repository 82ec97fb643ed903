import SecretService
import TestSupport

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
    #expect(item.modified > 1_600_000_000)
    try await client.delete(path)
  }

  @Test func `A deleted item is missing for every call`() async throws {
    let collection = try await client.collection()
    let attributes = ["test": "deleted"]
    let item = try await client.create(attributes)
    try await client.delete(item)
    #expect(try await client.search(attributes, in: collection.path).unlocked.isEmpty)
    #expect(try await client.secrets(of: [item]).isEmpty)
    await expectFailure(.noSuchItem) { try await client.item(item) }
    await expectFailure(.noSuchItem) { try await client.delete(item) }
    await expectFailure(.noSuchItem) { try await client.setSecret(SecretBytes(copying: [2]), of: item) }
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

  @Test func `Many secrets are read in steps of eight times as many, and of 125 at most`() async throws {
    let items = (0..<200).map { "\(FakeService.collection)/\($0)" }
    let steps = Mutex<[Int]>([])
    let service = try FakeService([
      "SearchItems": .found(items),
      "GetSecrets": .computed { arguments in
        let paths = arguments[0].strings ?? []
        steps.withLock { $0.append(paths.count) }
        return .secrets(Dictionary(uniqueKeysWithValues: paths.map { ($0, Variant.secret([1])) }))
      },
    ])
    let client = service.client()
    #expect(try await client.secrets(of: client.search([:]).unlocked).count == 200)
    #expect(steps.withLock(\.self) == [2, 16, 125, 57])
  }

  @Test func `The session with the service is encrypted`() async throws {
    let algorithms = try await client.perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.sessionAlgorithms(cancellable)
    }
    #expect(algorithms == "dh-ietf1024-sha256-aes128-cbc-pkcs7")
  }
}

struct SecretBytesTests {
  @Test func `A printed secret does not show its bytes`() {
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
    await expectFailure(.itemTooLarge(size: size, limit: size - 1)) {
      try await client.create(label: "Big", attributes: ["test": "big"], secret: secret, in: collection.path)
    }
    try SecretBytes(copying: [UInt8](repeating: 0, count: size - 1)).checkSize()
  }
}
