import Foundation
@testable import MSAL
import Testing
import TokenCache

extension MSALPublicClientApplication {
  /// An application with a cache in memory and a fake server.
  static func test(
    _ entra: FakeEntra, store: any CacheStore = InMemoryStore(),
    configure: (MSALPublicClientApplicationConfig) -> Void = { _ in }
  ) throws -> MSALPublicClientApplication {
    let config = MSALPublicClientApplicationConfig(clientId: FakeEntra.clientID)
    config.cacheConfig.store = store
    configure(config)
    return try MSALPublicClientApplication(
      configuration: config, transport: entra.server, authenticator: entra.browser)
  }

  /// Signs a user in.
  func signIn() async throws -> MSALResult { try await acquireToken(with: .userRead()) }

  /// Gets a token silently.
  @discardableResult
  func silent(
    _ account: MSALAccount, _ scopes: [String] = ["user.read"], forceRefresh: Bool = false
  ) async throws -> MSALResult {
    let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
    parameters.forceRefresh = forceRefresh
    return try await acquireTokenSilent(with: parameters)
  }

  /// The first account of this machine, including the broker's.
  func accountOfDevice() async throws -> MSALAccount {
    try #require(await accountsFromDevice(for: MSALAccountEnumerationParameters()).first)
  }
}

extension MSALInteractiveTokenParameters {
  static func userRead() -> MSALInteractiveTokenParameters {
    MSALInteractiveTokenParameters(scopes: ["user.read"], webviewParameters: MSALWebviewParameters())
  }
}

/// The messages that are logged during some work, in a test that has the log for itself.
func loggedMessages(
  _ work: () async throws -> Void
) async throws -> [(level: MSALLogLevel, text: String, containsPII: Bool)] {
  let messages = AsyncStream<(level: MSALLogLevel, text: String, containsPII: Bool)>.makeStream()
  let config = MSALGlobalConfig.loggerConfig
  config.logLevel = .verbose
  defer { config.logLevel = .info }
  config.setLogCallback { level, text, containsPII in
    if text == "the end" { return messages.continuation.finish() }
    messages.continuation.yield((level, text ?? "", containsPII))
  }
  defer { config.setLogCallback { _, _, _ in } }
  try await work()
  config.log(.verbose, "the end", containsPII: false)
  return await messages.stream.reduce(into: []) { $0.append($1) }
}

/// The error that a call throws, as programs for iOS and macOS catch it.
func failure<T>(
  sourceLocation: SourceLocation = #_sourceLocation, of call: () async throws -> T
) async throws -> NSError {
  try #require(
    await #expect(throws: NSError.self, sourceLocation: sourceLocation) { _ = try await call() },
    sourceLocation: sourceLocation)
}

extension NSError {
  var internalCode: Int? { userInfo[MSALInternalErrorCodeKey] as? Int }
}

extension URL {
  /// The value of a query parameter.
  func parameter(_ name: String) -> String? {
    URLComponents(url: self, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
  }
}
