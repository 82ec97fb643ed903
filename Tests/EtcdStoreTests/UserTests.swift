import Dispatch
import Sealing
import SecretService
import TestSupport

@testable import EtcdStore

/// An etcd that requires a user.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct UserTests {
  private static let node = Result { try newNode() }

  private static func newNode(_ arguments: [String] = []) throws -> EtcdNode {
    let node = try EtcdNode(arguments)
    for arguments in [
      ["user", "add", "root:root password"], ["user", "grant-role", "root", "root"],
      ["role", "add", "cache"],
      ["role", "grant-permission", "cache", "readwrite", "--prefix=true", "/test/"],
      ["user", "add", "cache:cache password"], ["user", "grant-role", "cache", "cache"], ["auth", "enable"],
    ] {
      try node.control(arguments)
    }
    return node
  }

  private let fixture: Fixture
  private let token = SampleToken("one", account: 1)

  init() throws { fixture = try Fixture(Self.node.get()) }

  private func user(_ password: String = "cache password\n", name: String = "cache") throws -> EtcdUser {
    EtcdUser(name: name, password: .keyFile(path: try fixture.file("password", password)))
  }

  private func cache(_ store: EtcdCacheStore) -> TokenCacheAccessor { fixture.accessor(on: store) }

  @Test(.fault("no right"))
  func `A password is asked for when it is needed, and a person until it is right`() async throws {
    let calls = Mutex(0)
    let user = EtcdUser(
      name: "cache",
      password: .passphrase { _ in
        let isFirst = calls.withLock { calls in
          calls += 1
          return calls == 1
        }
        return SecretBytes(copying: Array((isFirst ? "another password" : "cache password").utf8))
      })
    let store = try fixture.store(user: user)
    #expect(calls.withLock { $0 } == 0)
    await expectCacheError(.wrongKey) { try await cache(store).save(token) }
    try await cache(store).save(token)
    try forgetTokens()
    #expect(try await cache(store).finds(token))
    #expect(calls.withLock { $0 } == 2)
  }

  @Test(.fault("password end"), arguments: ["cache password", "cache password\n", "cache password\r\n"])
  func `A password may end with a line end of any kind, or none`(_ password: String) async throws {
    try await cache(fixture.store(user: user(password))).save(token)
    let words = EtcdUser(name: "cache", password: .passphrase(password))
    #expect(try await cache(fixture.store(user: words)).finds(token))
  }

  @Test(.fault("no password"))
  func `A request does not wait for a password for longer than it may take itself`() async throws {
    let end = DispatchSemaphore(value: 0)
    let user = EtcdUser(
      name: "cache",
      password: .passphrase { _ in
        _ = end.wait(timeout: .now() + .seconds(60))
        return SecretBytes(copying: [1])
      })
    let session = EtcdSession(user, environment: [:], busAddress: nil)
    let endpoint = try EtcdEndpoint("https://localhost:1")
    let problem = await #expect(throws: EtcdFailure.self) {
      _ = try await session.token(at: endpoint, within: .milliseconds(100)) { _, _ in "token" }
    }
    end.signal()
    #expect(problem?.outcomeIsUnknown == false)
    guard case .password(let error)? = problem?.cause, error.code == .timedOut else {
      Issue.record("\(String(describing: problem))")
      return
    }
  }

  @Test(.fault("endpoint"))
  func `A call that waits for the token of another may ask the next endpoint`() async throws {
    let session = EtcdSession(try user(), environment: [:], busAddress: nil)
    let endpoint = try EtcdEndpoint("https://localhost:1")
    let (began, end) = (Gate(), Gate())
    async let first = session.token(at: endpoint, within: .seconds(600)) { _, _ in
      began.open()
      await end.wait()
      return "token"
    }
    await began.wait()
    let problem = await #expect(throws: EtcdFailure.self) {
      _ = try await session.token(at: endpoint, within: .milliseconds(100)) { _, _ in "other" }
    }
    #expect(problem?.isFinal == false && problem?.reason.contains("localhost:1") == true)
    end.open()
    #expect(try await first == "token")
  }

  @Test func `A keyring that is locked again is not unlocked within a request`() async throws {
    let item = FakeService.collection + "/1"
    let service = try FakeService([
      "Locked": .inTurn(.locked(true), then: .locked(false)), "SearchItems": .found([item]),
      "GetSecrets": .secrets([item: .secret(Array("password".utf8))]), "Unlock": .unlockPrompt,
      "Prompt": .completion(.objectPaths([FakeService.collection])),
    ])
    let source = KeySource.keyring(prompt: .allowed(waitingUpTo: .seconds(120)), allowsPlainSession: true)
    let session = EtcdSession(
      EtcdUser(name: "cache", password: source), environment: [:], busAddress: service.keyring.busAddress)
    let endpoint = try EtcdEndpoint("https://localhost:1")
    func token() async throws -> String? {
      try await session.token(at: endpoint, within: .seconds(120)) { _, password in password }
    }
    #expect(throws: CacheError.self) { try session.checkPassword() }
    try await session.askForPassword()
    #expect(service.calls.count { $0 == "Prompt" } == 1)
    #expect(try await token() == "password")

    service.setAnswer("Locked", .locked(true))
    session.forget("password")
    #expect(try await token() == "password")
    #expect(service.calls.count { $0 == "Prompt" } == 1)
  }

  @Test(.fault("no password"))
  func `A person has minutes for the password also where members have seconds to answer`() async throws {
    let calls = Mutex(0)
    let user = EtcdUser(
      name: "cache",
      password: .passphrase { _ in
        calls.withLock { $0 += 1 }
        // Longer than the whole question may take.
        usleep(1_200_000)
        return SecretBytes(copying: Array("cache password".utf8))
      })
    let store = try fixture.store(user: user)
    let members = await store.members(timeout: .seconds(1))
    #expect(calls.withLock { $0 } == 1)
    // On a slow machine etcd may be late, but not the password.
    if case .failure(let error)? = members.first { #expect(!error.message.contains("password")) }
  }

  @Test(.fault("endpoint"))
  func `An endpoint that hangs while it authenticates is left for the next one`() async throws {
    let hanging = "127.0.0.1:\(ReservedPort.refusing.number)"
    let transport = MeddlingTransport { (request, send) throws(HTTPTransportError) in
      guard request.head.authority == hanging else { return try await send(request) }
      do { try await Task.sleep(for: request.timeout) } catch { throw .cancelled }
      throw .timedOut
    }
    let endpoints = ["http://\(hanging)", fixture.node.endpoint]
    let store = try fixture.store(at: endpoints, user: user(), watching: nil, through: transport)
    try await cache(store).save(token)
    #expect(try await cache(store).finds(token))
  }

  @Test(.fault("etcd refuses"))
  func `A token that etcd no longer accepts is renewed, in the middle of a change too`() async throws {
    let isFirst = Atomic(true)
    let transport = MeddlingTransport { (request, send) throws(HTTPTransportError) in
      if request.writes, request.says("/writers/"), isFirst.exchange(false, ordering: .relaxed) {
        try? forgetTokens()
      }
      return try await send(request)
    }
    let store = try fixture.store(user: user(), watching: nil, through: transport)
    try await cache(store).save(token)
    #expect(try await cache(store).finds(token))
    let authentications = transport.methods.filter { $0 == "/v3/auth/authenticate" }
    #expect(authentications.count == 2)
  }

  @Test(.fault("etcd refuses")) func `A token that is too old is renewed`() async throws {
    // How long an unused token is valid, in seconds: the shortest. From 3.5 on its end is in the log of this level alone.
    let node = try Self.newNode(["--auth-token-ttl=1", "--log-level=debug"])
    let fixture = try Fixture(node)
    let transport = MeddlingTransport()
    let store = try fixture.store(user: user(), watching: nil, through: transport)
    let cache = fixture.accessor(on: store)
    try await cache.save(SampleToken("one", account: 1))
    // A check whether it has ended would prolong it.
    await node.waitForEndOfToken()
    try await cache.save(SampleToken("two", account: 1))
    #expect(transport.methods.count { $0 == "/v3/auth/authenticate" } >= 2)
    #expect(try await cache.finds(SampleToken("two", account: 1)))
  }

  /// Makes etcd forget all tokens that it gave.
  private func forgetTokens() throws {
    let node = try Self.node.get()
    try node.control("auth", "disable", user: "root:root password")
    try node.control("auth", "enable")
  }

  @Test(.fault("etcd refuses"))
  func `A wrong password, a missing user and a missing password file are distinct errors`() async throws {
    let wrong = await expectCacheError(.wrongKey) {
      try await cache(fixture.store(user: user("other"))).save(token)
    }
    #expect(wrong?.message.contains("other") == false)
    let none = await expectCacheError(.refused) { try await cache(fixture.store()).save(token) }
    #expect(none?.message == "etcd requires a user.")
    let gone = EtcdUser(name: "cache", password: .keyFile(path: "/proc/nonexistent/password"))
    let absent = await expectCacheError(.unavailable) {
      try await cache(fixture.store(user: gone)).save(token)
    }
    #expect(absent?.advice?.contains("password") == true)
    // An empty one is etcd's to refuse.
    let session = EtcdSession(try user(""), environment: [:], busAddress: nil)
    let endpoint = try EtcdEndpoint("https://localhost:1")
    let empty = try await session.token(at: endpoint, within: .seconds(600)) { _, password in password }
    #expect(empty == "")
  }

  @Test(.fault("etcd refuses")) func `A prefix without rights is reported as such`() async throws {
    let store = try fixture.store(prefix: "/elsewhere", user: user())
    for call in [
      { _ = try await store.groups() }, { _ = try await store.read(.all, in: fixture.group) },
      { try await cache(store).save(token) },
    ] as [@Sendable () async throws -> Void] {
      let error = await expectCacheError(.refused) { try await call() }
      #expect(error?.message == "etcd's user has no right to the store's prefix.")
      #expect(error?.advice?.contains("grant-permission") == true)
    }
  }
}
