import Glibc
package import StoreRules
import Testing
package import TokenCache
import WorkerSupport

extension StoreFixture {
  /// The group as an accessor on a store has it.
  package func accessor(on store: any CacheStore) -> TokenCacheAccessor {
    TokenCacheAccessor(store: store, group: group)
  }

  /// Another group as an accessor on a store has it.
  package func otherGroup(on store: any CacheStore) throws -> TokenCacheAccessor {
    TokenCacheAccessor(store: store, group: try KeychainGroup("org.example.other"))
  }

  package func shard(_ token: SampleToken) -> ShardID {
    ShardID(homeAccountID: token.homeAccountID, group: group)
  }

  /// The shard of what belongs to no account.
  package var commonShard: ShardID { ShardID(homeAccountID: nil, group: group) }
}

/// A group in a store that several processes can use.
package protocol SharedStoreFixture: StoreFixture {
  var cache: TokenCacheAccessor { get }

  /// Starts a `Worker` that uses the store.
  func worker(_ arguments: [String]) throws -> Worker

  /// The names of the tokens in the group, each of which is whole and there once.
  func savedNames() async throws -> Set<String>
}

extension SharedStoreFixture {
  package func worker(_ arguments: String...) throws -> Worker { try worker(arguments) }

  /// Starts a worker that does what it is told.
  package func server() async throws -> Worker {
    let worker = try worker("serve", group.name)
    #expect(await worker.nextLine() == "ready")
    return worker
  }

  /// Starts a worker that holds the group's lock until it is killed.
  package func holder() async throws -> Worker {
    let worker = try await server()
    #expect(await worker.ask("hold") == "holding")
    return worker
  }

  /// Has processes save so many tokens each at once; all that was acknowledged is found.
  package func saveByProcesses(_ count: Int, saves: Int, accounts: Int) async throws {
    let writers = try (0..<count).map { try worker("save", group.name, "w\($0)", "\(saves)", "\(accounts)") }
    let acknowledged = await acknowledged(by: writers)
    #expect(acknowledged.count == count * saves)
    #expect(try await savedNames() == Set(acknowledged))
  }

  /// The names of the tokens that processes said they had saved when all had come to their end.
  package func acknowledged(by writers: [Worker]) async -> [String] {
    var acknowledged: [String] = []
    for writer in writers {
      let (lines, status) = await writer.finish()
      #expect(status == 0)
      acknowledged += lines
    }
    return acknowledged
  }

  /// Eight processes save, and one after the other is killed and replaced. Acknowledged saves stay, and the lock is free
  /// afterwards.
  package func saveByProcessesThatAreKilled() async throws {
    let (saves, count, rounds) = (100_000, 8, 40)
    func writer(_ name: String) throws -> Worker { try worker("save", group.name, name, "\(saves)", "20") }
    var writers = try (0..<count).map { try writer("w\($0)") }
    var acknowledged: [String] = []
    for round in 0..<rounds {
      let victim = writers[round % count]
      // It has begun to save, and is killed at whatever it does then.
      for _ in 0...round % 4 { acknowledged.append(await victim.nextLine()) }
      victim.kill()
      writers[round % count] = try writer("r\(round)")
      acknowledged += await victim.finish().lines
    }
    for writer in writers { writer.kill() }
    for writer in writers { acknowledged += await writer.finish().lines }

    let names = try await savedNames()
    #expect(names.isSuperset(of: acknowledged))
    // Of each victim one save at most was under way.
    #expect(names.count <= acknowledged.count + rounds + count)
    let token = SampleToken("last", account: 0)
    try await cache.save(token)
    #expect(try await accessor(on: newStore()).finds(token))
  }

  /// A writer waits for the lock that another process holds, as long as it may, and goes on when that is killed.
  /// `meanwhile` is what else is done while the lock is held.
  package func waitForAnotherProcess(_ meanwhile: () async throws -> Void = {}) async throws {
    let (token, late) = (SampleToken("new", account: 0), SampleToken("late", account: 0))
    try await cache.save(SampleToken("old", account: 0))
    let worker = try await holder()
    let impatient = accessor(on: try newStore(timeout: .seconds(2)))
    await expectCacheError(.timedOut) { try await impatient.save(late) }
    #expect(try await !accessor(on: newStore()).finds(late))
    try await meanwhile()
    async let saved: Void = cache.save(token)
    worker.kill()
    try await saved
    #expect(await worker.finish().status == 128 + SIGKILL)
    #expect(try await accessor(on: newStore()).finds(token))
    // A write that was given up while it waited for the lock was not carried out later.
    try await eventually { (try? await impatient.save(SampleToken("after", account: 0))) != nil }
    #expect(try await !accessor(on: newStore()).finds(late))
  }

  /// Reading leaves no serialized token in memory, and `SecretBytes` no secret: in a process of its own, since others'
  /// memory would count too.
  package func leaveNoResidue() async throws {
    // Many, since what is not wiped is in part overwritten by what comes next.
    #expect(try await worker("save", group.name, "residue", "40", "1").finish().lines.count == 40)
    let (lines, status) = try await worker("residue", group.name, "residue").finish()
    #expect(status == 0)
    #expect(lines == ["0", "0"])
  }

  /// Saves and finds in turns with another process; each finds with its first lookup what the other saved.
  package func saveInTurnsWithAnotherProcess() async throws {
    let worker = try await server()
    for number in 0..<20 {
      let theirs = SampleToken("theirs-\(number)", account: 0)
      #expect(try await !cache.finds(theirs))
      #expect(await worker.ask("save \(theirs.name)") == "saved")
      #expect(try await cache.finds(theirs))
      let ours = SampleToken("ours-\(number)", account: 0)
      #expect(await worker.ask("find \(ours.name)") == "missing")
      try await cache.save(ours)
      #expect(await worker.ask("find \(ours.name)") == "found")
    }
    #expect(await worker.finish().status == 0)
  }

  /// Saves and finds in a thousand tasks at once; all that was saved is found afterwards.
  package func saveByAThousandTasks() async throws {
    let cache = cache
    try await atOnce(0..<1000) { number in
      if number.isMultiple(of: 5) {
        let token = SampleToken("t\(number)", account: number % 7)
        try await cache.save(token)
        #expect(try await cache.finds(token))
      } else {
        _ = try await cache.finds(SampleToken("t\(number - number % 5)", account: number % 7))
      }
    }
    for number in stride(from: 0, to: 1000, by: 5) {
      #expect(try await cache.finds(SampleToken("t\(number)", account: number % 7)))
    }
  }

  package func savedNames() async throws -> Set<String> {
    let contents = try await newStore().read(.all, in: group)
    #expect(contents.problems.isEmpty, "\(contents.problems)")
    var names: Set<String> = []
    for document in contents.documents.values {
      for credential in document.accessTokens.values {
        let token = try #require(AccessToken(credential))
        let name = try #require(SampleToken.name(ofAccessToken: token.secret))
        #expect(names.insert(name).inserted)
      }
    }
    return names
  }
}

extension CacheStore {
  /// Expects the same error of every call, so that none takes an unreadable store for empty; with advice unless the
  /// service's reply is invalid.
  package func expectEveryCall(
    in group: KeychainGroup, toThrow code: CacheError.Code,
    of token: SampleToken = SampleToken("any", account: 3)
  ) async {
    let cache = TokenCacheAccessor(store: self, group: group)
    let shard = ShardID(homeAccountID: token.homeAccountID, group: group)
    let calls: [(name: String, call: () async throws -> Void)] = [
      ("groups", { _ = try await groups() }),
      ("read all", { _ = try await read(.all, in: group) }),
      ("read", { _ = try await read(.some([shard]), in: group) }),
      ("update", { try await update([shard], in: group) { _ in } }),
      ("remove everything", { _ = try await remove(.everything, in: group) }),
      ("remove what is damaged", { _ = try await remove(.damaged, in: group) }),
      ("find", { _ = try await cache.finds(token) }),
      ("accounts", { _ = try await cache.accounts() }),
      ("snapshot", { _ = try await cache.snapshot() }),
      ("clear", { _ = try await cache.clear() }),
      ("save", { try await cache.save(token) }),
    ]
    for (name, call) in calls {
      let error = await #expect(throws: CacheError(code, ""), "\(name)") { try await call() }
      #expect(code == .refused || error?.advice != nil, "\(name)")
    }
  }
}
