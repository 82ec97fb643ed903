import RuntimeCounter
import TestSupport

@testable import TokenCache

/// Four times as many records cost at most five times as much allocated memory, where quadratic work, such as a growing dictionary
/// that is copied for each record, costs up to 16 times as much. Time would depend on how busy the machine is.
struct ComplexityTests {
  typealias Caches = (accounts: CacheDocument, tenants: CacheDocument)

  /// What is done at a size, to a group.
  struct Operation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The group.
    let cache: @Sendable (Caches) -> CacheDocument
    let isImported: Bool
    let run: @Sendable (_ test: TestCache, _ cache: CacheDocument) async throws -> Bool

    init(
      _ name: String, _ cache: @escaping @Sendable (Caches) -> CacheDocument,
      isImported: Bool = true,
      _ run: @escaping @Sendable (_ test: TestCache, _ cache: CacheDocument) async throws -> Bool
    ) {
      testDescription = name
      self.cache = cache
      self.isImported = isImported
      self.run = run
    }
  }

  private static func person(_ number: Int) -> TestPerson {
    TestPerson(uid: "person-\(number)", home: "tenant", username: "\(number)@contoso.example")
  }

  /// So many accounts, each with its tokens.
  @Sendable private static func accounts(_ count: Int) async throws -> CacheDocument {
    let test = TestCache()
    for number in 0..<count { try await test.save(TestResponse(person: person(number))) }
    return try await test.document
  }

  /// One account that so many tenants know, each with its tokens.
  @Sendable private static func tenants(_ count: Int) async throws -> CacheDocument {
    let test = TestCache()
    try await test.save(TestResponse(tenant: "guest-0"))
    let one = String(decoding: try await test.document.json(), as: UTF8.self)
    return CacheDocument(
      union: try (0..<count).map { try CacheDocument(one.replacing("guest-0", with: "guest-\($0)")) })
  }

  private static let sizes = [100, 400]

  /// The caches of each size, made once.
  private static let caches = Task {
    var made: [Int: Caches] = [:]
    for size in sizes { made[size] = (try await accounts(size), try await tenants(size)) }
    return made
  }

  private static let operations = [
    Operation("list", { $0.accounts }) { test, cache in
      try await test.cache.snapshot().document.recordCount == cache.recordCount
    },
    Operation("list of tenants", { $0.tenants }) { test, cache in
      let profiles = try await test.cache.accounts().flatMap(\.tenantProfiles)
      return profiles.count == cache.accounts.count && profiles.count >= 100
    },
    Operation("status", { $0.accounts }) { test, cache in try await status(test) == cache.accounts.count },
    Operation("status of tenants", { $0.tenants }) { test, cache in
      try await status(test) == cache.accounts.count
    },
    Operation("import", { $0.accounts }, isImported: false) { test, cache in
      try await test.cache.import(cache).kept == 0
    },
    Operation("import of tenants", { $0.tenants }, isImported: false) { test, cache in
      try await test.cache.import(cache).kept == 0
    },
    Operation("import again", { $0.accounts }) { test, cache in try await test.cache.import(cache).saved == 0
    },
    Operation("import of tenants again", { $0.tenants }) { test, cache in
      try await test.cache.import(cache).saved == 0
    },
    Operation("save", { $0.accounts }) { test, _ in
      try await test.save(TestResponse(person: person(7))).account?.username == person(7).username
    },
    Operation("save among tenants", { $0.tenants }) { test, _ in
      try await test.save(TestResponse(tenant: "guest-7")).account?.realm == "guest-7"
    },
    Operation("lookup", { $0.accounts }) { test, _ in try await test.token(of: person(7)) != nil },
    Operation("lookup among tenants", { $0.tenants }) { test, _ in
      try await test.token(realm: "guest-7") != nil
    },
    Operation("removal of a client", { $0.accounts }) { test, cache in
      try await test.cache.removeClient(TestCache.client).count == cache.credentials.count
    },
    Operation("removal of an account", { $0.accounts }) { test, _ in
      try await test.cache.removeAccount(person(7).homeAccountID).count == 3
    },
    Operation("removal of tenants", { $0.tenants }) { test, cache in
      try await test.cache.removeAccount(TestPerson.alice.homeAccountID).count == cache.credentials.count
    },
  ]

  /// - Returns: How many profiles the renewable accounts have.
  private static func status(_ test: TestCache) async throws -> Int {
    let snapshot = try await test.cache.snapshot()
    let accounts = try snapshot.accounts(AccountFilter(clientID: TestCache.client)).filter { account in
      let lookup = TokenLookup(
        homeAccountID: account.homeAccountID, environment: account.environment, clientID: TestCache.client)
      return !snapshot.refreshTokens(for: lookup).isEmpty
    }
    return accounts.reduce(0) { $0 + $1.tenantProfiles.count }
  }

  /// Whether a thread's allocations are counted.
  private static let canCount: Bool = {
    defer { runtime_counter_stop() }
    return runtime_counter_start()
  }()

  @Test(.enabled(if: canCount, "a sanitizer has a malloc of its own"), arguments: operations)
  func `Four times as much costs at most five times as much`(_ operation: Operation) async throws {
    var work: [Int] = []
    for size in Self.sizes {
      let (test, cache) = (TestCache(), operation.cache(try #require(await Self.caches.value[size])))
      if operation.isImported { _ = try await test.cache.import(cache) }
      let thread = pthread_self()
      runtime_counter_start()
      let isDone = try await operation.run(test, cache)
      work.append(Int(runtime_counter_stop()))
      #expect(isDone)
      // Allocations of another thread are not counted.
      try #require(pthread_equal(thread, pthread_self()) != 0)
    }
    #expect(work[1] <= 5 * work[0], "\(work)")
  }
}
