import SecretService
import TestSupport

extension FakeService {
  /// It allows the plain session, which is all that this service has.
  func client(timeout: Duration = .seconds(300)) -> SecretServiceClient {
    SecretServiceClient(busAddress: keyring.busAddress, timeout: timeout, allowsPlainSession: true)
  }

  /// A service that gives these answers, a client of it, and the path of its collection.
  static func connected(
    _ answers: [String: Answer]
  ) async throws -> (FakeService, SecretServiceClient, ObjectPath) {
    let service = try FakeService(answers)
    let client = service.client()
    return (service, client, try await client.collection().path)
  }
}

extension SecretServiceClient {
  /// Makes an item, in the default collection unless another is named.
  func create(
    _ attributes: [String: String], _ secret: [UInt8] = [1], label: String = "Item",
    in collection: ObjectPath? = nil, prompt: PromptPermission = .denied
  ) async throws -> ObjectPath {
    let collection = if let collection { collection } else { try await self.collection().path }
    return try await create(
      label: label, attributes: attributes, secret: SecretBytes(copying: secret), in: collection,
      prompt: prompt)
  }

  /// What an item holds.
  func bytes(of item: ObjectPath) async throws -> [UInt8] {
    try #require(await secrets(of: [item])[item]).withUnsafeBytes { Array($0) }
  }
}

/// Expects a call to fail with an error, and returns it.
@discardableResult
func expectFailure<T>(
  _ error: SecretServiceError, sourceLocation: SourceLocation = #_sourceLocation,
  in call: () async throws -> T
) async -> SecretServiceError? {
  await #expect(throws: error, sourceLocation: sourceLocation) { try await call() }
}
