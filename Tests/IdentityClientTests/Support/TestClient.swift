import Foundation
import HTTPSupport
import Logging
import Synchronization
import TestSupport
import Testing
import TokenCache

@testable import IdentityClient

/// A clock that only moves during a wait, or when a test says so.
final class TestClock: Sendable {
  private let state = Mutex((now: Date(timeIntervalSince1970: 1_800_000_000), waits: [Duration]()))
  /// Called in every wait, to do something meanwhile.
  let onWait = Mutex<(@Sendable (Duration) async throws -> Void)?>(nil)

  var now: Date { state.withLock { $0.now } }
  var waits: [Duration] { state.withLock { $0.waits } }

  func advance(_ seconds: Double) { state.withLock { $0.now += seconds } }

  var timing: Timing {
    Timing(
      sleep: { duration in
        try Task.checkCancellation()
        self.state.withLock {
          $0.waits.append(duration)
          $0.now += duration / .seconds(1)
        }
        try await self.onWait.withLock { $0 }?(duration)
      }, uptime: { .seconds(self.now.timeIntervalSince1970) })
  }
}

/// A store that can be told to refuse.
final class FailingStore: CacheStore {
  let base = InMemoryStore()
  let refusesReads = Mutex(false)
  let refusesWrites = Mutex(false)
  let reads = Mutex(0)
  let writes = Mutex(0)

  func groups() throws(CacheError) -> [KeychainGroup] { base.groups() }
  func read(_ shards: ShardSelection, in group: KeychainGroup) throws(CacheError) -> GroupContents {
    reads.withLock { $0 += 1 }
    if refusesReads.withLock({ $0 }) { throw CacheError(.locked, "The keyring is locked.") }
    return base.read(shards, in: group)
  }
  func update<Result: Sendable>(
    _ shards: [ShardID], in group: KeychainGroup,
    _ change: @escaping @Sendable (inout GroupContents) throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    writes.withLock { $0 += 1 }
    if refusesWrites.withLock({ $0 }) { throw CacheError(.locked, "The keyring is locked.") }
    return try base.update(shards, in: group, change)
  }
  func remove(_ removal: Removal, in group: KeychainGroup) throws(CacheError) -> Int {
    base.remove(removal, in: group)
  }
  func generation(of group: KeychainGroup) -> UInt64? { base.generation(of: group) }
}

/// A client with everything around it scripted.
struct TestClient: Sendable {
  let clock: TestClock
  let transport = ScriptedTransport()
  let browser = ScriptedBrowser()
  let store: FailingStore
  let cache: TokenCacheAccessor
  let log = LogLines()
  let client: PublicClient

  init(
    _ authority: String? = nil, kind: Authority.Kind? = nil, store: FailingStore = FailingStore(),
    clock: TestClock = TestClock(), clientID: String = TestPerson.clientID,
    popKeys: (any PopKeyProvider)? = nil, broker: (any TokenBroker)? = nil,
    configure: (inout ClientConfiguration) -> Void = { _ in }
  ) throws {
    (self.store, self.clock) = (store, clock)
    cache = TokenCacheAccessor(store: store, now: { clock.now })
    var configuration = ClientConfiguration(clientID: clientID)
    if let authority, let url = URL(string: authority) {
      configuration.authority = try kind.map { try Authority(url: url, kind: $0) } ?? Authority(url: url)
    }
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
    idToken: JSONObject = [:], request: InteractiveRequest? = nil
  ) async throws(IdentityError) -> AuthenticationResult {
    let (browser, clock) = (browser, clock)
    transport.script { seen in
      guard seen.form["grant_type"] == "authorization_code" else { return nil }
      return .json(
        person.tokens(
          at: clock.now, scope: (scopes + ["openid", "profile", "offline_access"]).joined(separator: " "),
          nonce: browser.lastQuery["nonce"], changing: changes, idToken: idToken))
    }
    return try await client.acquireToken(request ?? InteractiveRequest(scopes: scopes))
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
  ) throws -> TestClient {
    try TestClient(authority, store: store, clock: clock, clientID: clientID, configure: configure)
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
  static func entra(_ tenant: String) throws -> Authority {
    try Authority(url: #require(URL(string: "https://login.microsoftonline.com/\(tenant)")))
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

/// Plays the browser and the person before it.
final class ScriptedBrowser: WebAuthenticator {
  typealias Person = @Sendable ([String: String]) async throws(IdentityError) -> [String: String]
  /// Whether an answer belongs to the sign-in.
  typealias Expectation = @Sendable ([String: String]) -> Bool

  private struct State {
    var pages: [URL] = []
    var modes: [ResponseMode] = []
    var person: (@Sendable (Expectation, [String: String]) async throws(IdentityError) -> [String: String])?
    var hasPrivateWindows = false
    var privatePages = 0
  }

  private let state = Mutex(State())

  /// What the person does with a page; without it they sign in.
  func person(_ person: @escaping Person) {
    state.withLock { $0.person = { _, query async throws(IdentityError) in try await person(query) } }
  }

  /// The same with the question which answers belong to the sign-in.
  func expectation(_ answer: @escaping @Sendable (Expectation, [String: String]) -> [String: String]) {
    state.withLock { $0.person = { isExpected, query in answer(isExpected, query) } }
  }

  /// The person signs in, and the page's answer says more.
  func answer(adding more: [String: String] = [:]) {
    person { query in ["code": "code-1", "state": query["state"] ?? ""].merging(more) { $1 } }
  }

  var pages: [URL] { state.withLock { $0.pages } }
  var modes: [ResponseMode] { state.withLock { $0.modes } }
  var lastQuery: [String: String] {
    pages.last.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
      .flatMap { FormEncoding.decode($0.utf8) } ?? [:]
  }

  var privatePages: Int { state.withLock { $0.privatePages } }
  var hasPrivateWindows: Bool {
    get { state.withLock { $0.hasPrivateWindows } }
    set { state.withLock { $0.hasPrivateWindows = newValue } }
  }

  /// The person is the same, and the pages are counted.
  func ephemeral() async -> (any WebAuthenticator)? {
    state.withLock { state in
      guard state.hasPrivateWindows else { return nil }
      state.privatePages += 1
      return self
    }
  }

  func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    guard let redirectURI = redirectURI ?? URL(string: "http://localhost:37469") else { return [:] }
    let page = try startURL(redirectURI)
    let person = state.withLock { state in
      state.pages.append(page)
      state.modes.append(responseMode)
      return state.person
    }
    let query = lastQuery
    return try await person?(isExpected, query) ?? ["code": "code-1", "state": query["state"] ?? ""]
  }
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
