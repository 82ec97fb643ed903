import Foundation
import Logging
import TestSupport

@testable import IdentityClient

/// A client with everything around it scripted.
struct TestClient: Sendable {
  let clock: TestClock
  let transport = ScriptedTransport()
  let browser = ScriptedBrowser()
  let store: ScriptedStore
  let cache: TokenCacheAccessor
  let log = LogLines()
  let client: PublicClient

  init(
    _ authority: String? = nil, kind: Authority.Kind? = nil, store: ScriptedStore = ScriptedStore(),
    clock: TestClock = TestClock(), clientID: String = TestPerson.clientID,
    popKeys: (any PopKeyProvider)? = nil, broker: (any TokenBroker)? = nil,
    configure: (inout ClientConfiguration) -> Void = { _ in }
  ) {
    (self.store, self.clock) = (store, clock)
    cache = TokenCacheAccessor(store: store, now: { clock.now })
    var configuration = ClientConfiguration(clientID: clientID)
    if let authority { configuration.authority = .made(authority, kind) }
    configure(&configuration)
    let lines = log
    client = PublicClient(
      configuration: configuration, cache: cache, transport: transport, authenticator: browser,
      popKeys: popKeys, broker: broker, logger: Logger(label: "test", factory: { _ in lines.handler }),
      now: { clock.now },
      timing: clock.timing, lockDirectory: TestDirectory.locks)
  }

  /// Signs a person in, in the scripted browser.
  @discardableResult
  func signIn(
    _ person: TestPerson = .alice, scopes: [String] = ["User.Read"], changing changes: JSONObject = [:],
    idToken: JSONObject = [:], request: InteractiveRequest? = nil,
    change: (inout InteractiveRequest) -> Void = { _ in }
  ) async throws(IdentityError) -> AuthenticationResult {
    let (browser, clock) = (browser, clock)
    transport.script { seen in
      guard seen.form["grant_type"] == "authorization_code" else { return nil }
      return .json(
        person.tokens(
          at: clock.now, scope: (scopes + ["openid", "profile", "offline_access"]).joined(separator: " "),
          nonce: browser.lastQuery["nonce"], changing: changes, idToken: idToken))
    }
    var request = request ?? InteractiveRequest(scopes: scopes)
    change(&request)
    return try await client.acquireToken(request)
  }

  /// Signs a person in, and lets the access token expire.
  func expired(_ person: TestPerson = .alice) async throws(IdentityError) -> Account {
    let account = try await signIn(person).account
    clock.advance(4000)
    return account
  }

  /// What the server answers to a renewal now.
  func tokens(
    _ access: String = "access-2", refresh: String = "refresh-2", scope: String = "User.Read",
    of person: TestPerson = .alice, changing changes: JSONObject = [:], idToken: JSONObject = [:]
  ) -> ScriptedAnswer {
    .json(
      person.tokens(
        at: clock.now, scope: scope, access: access, refresh: refresh, changing: changes, idToken: idToken))
  }

  /// Answers every renewal so, after `step`.
  func answerRenewals(_ answer: ScriptedAnswer, after step: @escaping @Sendable () async -> Void) {
    transport.script { seen in
      guard seen.form["grant_type"] == "refresh_token" else { return nil }
      await step()
      return answer
    }
  }

  /// Puts tokens into the cache as another process does.
  func save(
    _ person: TestPerson, access: String = "access-1", refresh: String, changing changes: JSONObject = [:],
    clientID: String = TestPerson.clientID
  ) async throws {
    let tokens = person.tokens(at: clock.now, access: access, refresh: refresh, changing: changes)
    try await cache.save(
      TokenResponse(fields: tokens),
      for: TokenRequest(environment: "login.windows.net", clientID: clientID))
  }

  /// Another client of the same cache.
  func another(
    _ authority: String? = nil, clientID: String = TestPerson.clientID,
    configure: (inout ClientConfiguration) -> Void = { _ in }
  ) -> TestClient {
    TestClient(authority, store: store, clock: clock, clientID: clientID, configure: configure)
  }

  /// An interactive request; what the server answers to it has to be scripted.
  func acquire(
    _ scopes: [String] = ["User.Read"], account: Account? = nil
  ) async throws(IdentityError) -> AuthenticationResult {
    try await client.acquireToken(InteractiveRequest(scopes: scopes, account: account))
  }

  func renew(_ account: Account) async throws(IdentityError) -> AuthenticationResult {
    try await silent(account) { $0.forceRefresh = true }
  }

  func silent(
    _ account: Account, _ scopes: [String] = ["User.Read"], change: (inout SilentRequest) -> Void = { _ in }
  ) async throws(IdentityError) -> AuthenticationResult {
    var request = SilentRequest(scopes: scopes, account: account)
    change(&request)
    return try await client.acquireTokenSilent(request)
  }

  /// Every secret of one kind in the cache.
  func secrets(_ section: CredentialSection) async throws -> [String] {
    try await cache.snapshot().document[section].values.compactMap(\.secret).sorted()
  }

  func recordCount() async throws -> Int { try await cache.snapshot().document.recordCount }
}

extension Authority {
  /// Entra ID's authority for a tenant.
  static func entra(_ tenant: String) -> Authority { made("https://login.microsoftonline.com/\(tenant)") }

  /// The authority of an address that a test gives.
  static func made(_ address: String, _ kind: Kind? = nil) -> Authority {
    guard let url = URL(string: address),
      let authority = try? kind.map({ try Authority(url: url, kind: $0) }) ?? Authority(url: url)
    else { preconditionFailure("\(address) is no authority") }
    return authority
  }
}

/// Expects a call to fail with an error of one code, or to succeed if there is none.
func expectOutcome<T>(
  _ code: IdentityError.Code?, sourceLocation: SourceLocation = #_sourceLocation,
  of call: () async throws(IdentityError) -> T
) async {
  do throws(IdentityError) {
    _ = try await call()
    #expect(code == nil, sourceLocation: sourceLocation)
  } catch {
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
  }
}

/// Directories that the tests use in place of the person's own.
enum TestDirectory {
  /// In a private keyring's directory, which goes when the tests end, however they do.
  static let locks: String = {
    let directory = try? PrivateKeyring.shared.get().directory
    return (directory ?? NSTemporaryDirectory()) + "/identity-locks"
  }()
}

/// What was written to the log.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  var text: String { lines.withLock { $0.joined(separator: "\n") } }

  func count(of message: String) -> Int { lines.withLock { $0.count { $0.hasPrefix(message) } } }

  var handler: any LogHandler { Handler(lines: self) }

  private struct Handler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
    }
  }
}
