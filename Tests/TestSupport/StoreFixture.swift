import Testing
package import TokenCache
import WorkerSupport

/// What a kind of store can do besides keeping one group.
package struct StoreAbilities: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// It keeps more groups than one.
  package static let groups = StoreAbilities(rawValue: 1)
  /// Each shard is something of its own.
  package static let shards = StoreAbilities(rawValue: 2)
  /// Something else can make a shard one that cannot be read.
  package static let damage = StoreAbilities(rawValue: 4)
  /// It tells of changes by a counter.
  package static let counter = StoreAbilities(rawValue: 8)
  /// It refuses documents of more than 32 MiB.
  package static let limit = StoreAbilities(rawValue: 16)
  /// Its calls can be given up while they wait.
  package static let waiting = StoreAbilities(rawValue: 32)
}

/// A new, empty place for a store, and a group in it.
package protocol StoreFixture: Sendable {
  static var abilities: StoreAbilities { get }
  var group: KeychainGroup { get }

  /// A store on that place, as another process would have it.
  func newStore(timeout: Duration) throws -> any CacheStore

  /// Makes a shard that is there one that cannot be read.
  func damage(_ shard: ShardID) async throws

  /// The group's counter in a store; once it is another than it was, where it changes a moment after the group.
  func generation(of store: any CacheStore, after previous: UInt64?) async -> UInt64?
}

extension StoreFixture {
  package func generation(of store: any CacheStore, after previous: UInt64?) async -> UInt64? {
    store.generation(of: group)
  }

  package func generation(of store: any CacheStore) async -> UInt64? {
    await generation(of: store, after: nil)
  }

  func newStore() throws -> any CacheStore { try newStore(timeout: .seconds(600)) }
}

/// A group in a store that several processes can use.
package protocol SharedStoreFixture: StoreFixture {
  var cache: TokenCacheAccessor { get }

  /// Starts a `Worker` that uses the store.
  func worker(_ arguments: [String]) throws -> Worker
}

extension SharedStoreFixture {
  package func worker(_ arguments: String...) throws -> Worker { try worker(arguments) }

  /// Has eight processes save 200 tokens each.
  ///
  /// - Returns: The names of the tokens whose saves were acknowledged.
  package func saveByEightProcesses() async throws -> [String] {
    let saves = 200
    let writers = try (0..<writerCount).map { try writer("w\($0)", saves: saves) }
    var acknowledged: [String] = []
    for writer in writers {
      let (lines, status) = await writer.finish()
      #expect(status == 0)
      acknowledged += lines
    }
    #expect(acknowledged.count == writerCount * saves)
    return acknowledged
  }

  /// Has eight processes save, and kills one after the other, with another in its place.
  ///
  /// - Returns: The names of the tokens whose saves were acknowledged, and how many processes were killed, each of
  ///   which may have saved one more.
  package func saveByProcessesThatAreKilled() async throws -> (acknowledged: [String], killed: Int) {
    let saves = 100_000
    let rounds = 80
    var writers = try (0..<writerCount).map { try writer("w\($0)", saves: saves) }
    var acknowledged: [String] = []
    for round in 0..<rounds {
      let victim = writers[round % writerCount]
      // It has begun to save, and is killed at whatever it does then.
      for _ in 0...round % 4 { acknowledged.append(await victim.nextLine()) }
      victim.kill()
      writers[round % writerCount] = try writer("r\(round)", saves: saves)
      acknowledged += await victim.finish().lines
    }
    for writer in writers { writer.kill() }
    for writer in writers { acknowledged += await writer.finish().lines }
    return (acknowledged, rounds + writerCount)
  }

  /// Saves and finds in turns with another process; each finds with its first lookup what the other saved.
  package func saveInTurnsWithAnotherProcess() async throws {
    let worker = try worker("serve", group.name)
    #expect(await worker.nextLine() == "ready")
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
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<1000 {
        group.addTask {
          if number.isMultiple(of: 5) {
            let token = SampleToken("t\(number)", account: number % 7)
            try await cache.save(token)
            #expect(try await cache.finds(token))
          } else {
            _ = try await cache.finds(SampleToken("t\(number - number % 5)", account: number % 7))
          }
        }
      }
      try await group.waitForAll()
    }
    for number in stride(from: 0, to: 1000, by: 5) {
      #expect(try await cache.finds(SampleToken("t\(number)", account: number % 7)))
    }
  }

  /// The names of the tokens in the group, each of which is whole and there once.
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

  private var writerCount: Int { 8 }

  private func writer(_ name: String, saves: Int) throws -> Worker {
    try worker("save", group.name, name, "\(saves)", "20")
  }
}
