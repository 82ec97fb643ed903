import Foundation
@testable import MSAL
import TokenCache

extension MSALPublicClientApplication {
  /// An application that keeps its cache in memory and asks a made-up server.
  static func test(
    _ entra: FakeEntra, store: any CacheStore = InMemoryStore(),
    configure: (MSALPublicClientApplicationConfig) -> Void = { _ in }
  ) throws -> MSALPublicClientApplication {
    let config = MSALPublicClientApplicationConfig(clientId: FakeEntra.clientID)
    config.cacheConfig.store = store
    configure(config)
    return try MSALPublicClientApplication(configuration: config, transport: entra, authenticator: entra)
  }

  /// Signs somebody in.
  func signIn() async throws -> MSALResult {
    try await acquireToken(
      with: MSALInteractiveTokenParameters(
        scopes: ["user.read"], webviewParameters: MSALWebviewParameters()))
  }
}
