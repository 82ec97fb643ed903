import Dispatch
import FoundationEssentials
import Synchronization
public import Testing
package import TokenCache

/// A rule of every store.
///
/// The tests of a store make a ``StoreFixture`` and run all rules with one test:
///
/// ```swift
/// @Test(arguments: StoreRule.all(for: Fixture.self))
/// func `The store keeps every store's rules`(_ rule: StoreRule) async throws { try await rule.check(Fixture()) }
/// ```
public struct StoreRule: Sendable, CustomTestStringConvertible {
  /// The behaviour, in one sentence.
  public let testDescription: String
  private let abilities: StoreAbilities
  /// Checks the rule on a new fixture.
  public let check: @Sendable (any StoreFixture) async throws -> Void

  private init(
    _ name: String, for abilities: StoreAbilities = [],
    check: @escaping @Sendable (any StoreFixture) async throws -> Void
  ) {
    testDescription = name
    self.abilities = abilities
    self.check = check
  }

  /// The rules that a store with the abilities of a fixture has to keep.
  public static func all(for fixture: (some StoreFixture).Type) -> [StoreRule] {
    all.filter { fixture.abilities.isSuperset(of: $0.abilities) }
  }

  private static let all = [
    StoreRule("A missing group is empty and no problem") { fixture in
      let store = try fixture.newStore()
      #expect(try await store.groups().isEmpty)
      for selection in [ShardSelection.all, .some([fixture.shard(1)])] {
        let contents = try await store.read(selection, in: fixture.group)
        #expect(contents.documents.isEmpty && contents.problems.isEmpty)
      }
      for removal in [Removal.everything, .damaged] {
        #expect(try await store.remove(removal, in: fixture.group) == 0)
      }
    },
    StoreRule("Another store reads what was written, and no longer after it was removed") { fixture in
      let (store, other) = (try fixture.newStore(), try fixture.newStore())
      let shards = [fixture.shard(1), fixture.shard(2)]
      try await store.write(1, to: [1, 2], of: fixture)
      #expect(try await other.groups() == [fixture.group])
      #expect(Set(try await other.read(.all, in: fixture.group).documents.keys) == Set(shards))
      #expect(try await other.numbers(of: fixture) == [1: 1, 2: 1])
      let one = try await other.read(.some([fixture.shard(3), shards[0]]), in: fixture.group)
      #expect(Array(one.documents.keys) == [shards[0]] && one.problems.isEmpty)
      // An empty document removes the shard.
      let second = try fixture.document(account: 2, number: 2)
      try await other.update(shards, in: fixture.group) { contents in
        contents[shards[0]] = CacheDocument()
        contents[shards[1]] = second
      }
      #expect(try await store.numbers(of: fixture) == [2: 2])
      try await other.update([shards[1]], in: fixture.group) { $0.documents[shards[1]] = nil }
      #expect(try await store.numbers(of: fixture).isEmpty)
      #expect(try await store.groups().isEmpty || fixture.isOneDocument)
    },
    StoreRule("Unknown data are kept") { fixture in
      let json = #"""
        {"Account": {"k": {"home_account_id": "1.t", "environment": "e", "realm": "t", "n": 1, "f": 2.50, "none": null, "l": [{}]}},
         "AppMetadata": {"odd": 7}, "Custom": {"é": [1, "x", true]}}
        """#
      let document = try CacheDocument(json: Data(json.utf8))
      let parts = document.split(in: fixture.group)
      try await fixture.newStore().update(parts.map(\.shard), in: fixture.group) { contents in
        for (shard, document) in parts { contents[shard] = document }
      }
      let stored = try await fixture.newStore().read(.all, in: fixture.group).documents
      #expect(stored == Dictionary(uniqueKeysWithValues: parts.map { ($0.shard, $0.document) }))
    },
    StoreRule("A failed or empty change writes nothing") { fixture in
      let store = try fixture.newStore()
      try await store.write(1, to: [1, 2], of: fixture)
      let generation = await fixture.generation(of: store)
      let shards = [fixture.shard(1), fixture.shard(2)]
      // Whatever the error says of another store. By a store that has no memory, from which it would begin first.
      for disposition in [
        CacheError.Disposition.retry, .unlock, .unseal(makingStore: true), .applied(0), .fatal,
      ] {
        let calls = Mutex(0)
        let error = await expectCacheError(.refused) {
          try await fixture.newStore().update(shards, in: fixture.group) { contents throws(CacheError) in
            calls.withLock { $0 += 1 }
            contents[shards[0]] = CacheDocument()
            throw CacheError(.refused, "No.", disposition: disposition)
          }
        }
        #expect(calls.withLock(\.self) == 1)
        #expect(error?.message == "No.")
      }
      let result = try await store.update(shards, in: fixture.group) { contents in
        contents[shards[0]] = contents[shards[0]]
        return contents.documents.count
      }
      #expect(result == 2)
      #expect(await fixture.generation(of: store) == generation)
      #expect(try await fixture.newStore().numbers(of: fixture) == [1: 1, 2: 1])
    },
    StoreRule("Only the shards that were named are written") { fixture in
      let store = try fixture.newStore()
      let (named, other) = (fixture.shard(1), fixture.shard(2))
      let document = try fixture.document(account: 2, number: 9)
      try await store.write(1, to: [1], of: fixture)
      try await store.update([named], in: fixture.group) { contents in
        #expect(Array(contents.documents.keys) == [named])
        contents[other] = document
      }
      #expect(try await store.numbers(of: fixture) == [1: 1])
    },
    StoreRule("Concurrent changes see each other") { fixture in
      let stores = try (0..<4).map { _ in try fixture.newStore() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<48 {
          let (store, account) = (stores[number % 4], number % 3)
          group.addTask { try await store.increment(account, of: fixture) }
        }
        try await group.waitForAll()
      }
      #expect(try await fixture.newStore().numbers(of: fixture) == [0: 16, 1: 16, 2: 16])
    },
    StoreRule("A reader sees a shard before or after a change, never in between") { fixture in
      let (writer, reader) = (try fixture.newStore(), try fixture.newStore())
      try await writer.write(0, to: [1], of: fixture)
      async let writes: Void = {
        // Of different lengths.
        for number in 1...20 {
          try await writer.write(number, to: [1], of: fixture, padding: 9000 * (number % 3))
        }
      }()
      var last = 0
      for _ in 0..<60 {
        let contents = try await reader.read(.some([fixture.shard(1)]), in: fixture.group)
        #expect(contents.problems.isEmpty)
        let number = try #require(fixture.number(in: contents[fixture.shard(1)]))
        #expect(number >= last)
        last = number
      }
      try await writes
    },
    StoreRule("The counter differs after each change by any store, and only then", for: .counter) {
      fixture in
      let (store, other) = (try fixture.newStore(), try fixture.newStore())
      try await store.write(1, to: [1], of: fixture)
      var seen = [try #require(await fixture.generation(of: store))]
      for number in 2...5 {
        let writer = number.isMultiple(of: 2) ? other : store
        try await writer.write(number, to: [1], of: fixture)
        let generation = try #require(await fixture.generation(of: store, after: seen.last))
        #expect(await fixture.generation(of: other, after: seen.last) == generation)
        #expect(!seen.contains(generation))
        seen.append(generation)
      }
      #expect(try await other.remove(.damaged, in: fixture.group) == 0)
      _ = try await other.read(.all, in: fixture.group)
      #expect(await fixture.generation(of: store) == seen.last)
      #expect(try await other.remove(.everything, in: fixture.group) == 1)
      let last = try #require(await fixture.generation(of: store, after: seen.last))
      #expect(!seen.contains(last))
    },
    StoreRule("Groups are listed by name and do not see each other", for: .groups) { fixture in
      let store = try fixture.newStore()
      let groups = try ["org.example.b", "org.example.a", "com.example.z", "com.example.Z"].map {
        try KeychainGroup($0)
      }
      for (number, group) in groups.enumerated() {
        let shard = ShardID(homeAccountID: "1.t", group: group)
        let document = try fixture.document(account: 1, number: number)
        try await store.update([shard], in: group) { $0[shard] = document }
      }
      #expect(try await fixture.newStore().groups() == groups.sorted { $0.name < $1.name })
      #expect(try await store.remove(.everything, in: groups[0]) == 1)
      for (number, group) in groups.enumerated() {
        let contents = try await fixture.newStore().read(.all, in: group)
        #expect(contents.documents.values.map { fixture.number(in: $0) } == (number == 0 ? [] : [number]))
      }
    },
    StoreRule("A damaged shard is reported, hides no other and is not overwritten", for: .damage) {
      fixture in
      let store = try fixture.newStore()
      let (hurt, sound) = (fixture.shard(1), fixture.shard(2))
      try await store.write(1, to: [1, 2], of: fixture)
      try await fixture.damage(hurt)
      for (selection, rest) in [(.all, [sound]), (.some([hurt]), [])] as [(ShardSelection, [ShardID])] {
        let contents = try await store.read(selection, in: fixture.group)
        #expect(Array(contents.documents.keys) == rest)
        #expect(contents.problems.map(\.kind) == [.damaged] && contents.problems.map(\.shard) == [hurt])
        #expect(contents.problems.map(\.remedy) == [.removal])
      }
      for shards in [[hurt], [sound, hurt]] {
        let error = await expectCacheError(.damaged) {
          try await store.update(shards, in: fixture.group) { _ in Issue.record("called") }
        }
        #expect(error?.remedy == .removal && error?.advice?.isEmpty == false)
      }
      try await store.write(2, to: [2], of: fixture)
      #expect(try await store.groups() == [fixture.group])
      #expect(try await store.remove(.damaged, in: fixture.group) == 1)
      #expect(try await store.read(.all, in: fixture.group).problems.isEmpty)
      try await store.write(3, to: [1], of: fixture)
      #expect(try await fixture.newStore().numbers(of: fixture) == [1: 3, 2: 2])
    },
    StoreRule("A document beyond the limit is refused, and the contents stay", for: .limit) { fixture in
      let store = try fixture.newStore()
      try await store.write(1, to: [1, 2], of: fixture)
      let generation = await fixture.generation(of: store)
      await expectCacheError(.tooLarge) {
        try await store.write(2, to: [1, 2], of: fixture, padding: 33 << 20)
      }
      #expect(await fixture.generation(of: store) == generation)
      #expect(try await fixture.newStore().numbers(of: fixture) == [1: 1, 2: 1])
    },
    StoreRule(
      "A writer that waits for another times out, and can be cancelled", for: .waiting
    ) {
      fixture in
      let (store, other) = (try fixture.newStore(), try fixture.newStore(timeout: .milliseconds(500)))
      try await store.write(1, to: [1], of: fixture)
      let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let shard = fixture.shard(1)
      let holder = Task {
        try await store.update([shard], in: fixture.group) { contents in
          isHeld.signal()
          release.wait()
          return fixture.increment(1, in: &contents)
        }
      }
      await blocking { isHeld.wait() }
      await expectCacheError(.timedOut) { try await other.write(2, to: [1], of: fixture) }
      let waiting = Task { try await store.write(3, to: [1], of: fixture) }
      waiting.cancel()
      await expectCacheError(.cancelled) { try await waiting.value }
      #expect(try await fixture.newStore().numbers(of: fixture) == [1: 1])
      // Also one that has begun.
      holder.cancel()
      await expectCacheError(.cancelled) { try await holder.value }
      release.signal()
      // None is carried out later.
      #expect(try await fixture.newStore().increment(1, of: fixture) == 2)
    },
    StoreRule("A large group is read, changed and removed like any other") { fixture in
      let store = try fixture.newStore()
      let accounts = Array(0..<120)
      try await store.write(1, to: accounts, of: fixture)
      #expect(try await fixture.newStore().numbers(of: fixture).count == 120)
      try await store.increment(60, of: fixture)
      let wanted = accounts.map(fixture.shard)
      #expect(try await fixture.newStore().read(.some(wanted), in: fixture.group).documents.count == 120)
      let count = try await fixture.newStore().remove(.everything, in: fixture.group)
      #expect(count == (fixture.isOneDocument ? 1 : 120))
      #expect(try await store.read(.all, in: fixture.group).documents.isEmpty)
    },
  ]
}

/// Expects a call to fail with an error of one code, and returns the error.
@discardableResult
package func expectCacheError<T>(
  _ code: CacheError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  in call: () async throws -> T
) async -> CacheError? {
  let error = await #expect(throws: CacheError.self, sourceLocation: sourceLocation) { try await call() }
  if let error { #expect(error.code == code, sourceLocation: sourceLocation) }
  return error
}

/// Runs blocking work on a thread that may block, and returns what comes of it.
package func blocking<T: Sendable, E: Error>(
  _ work: @escaping @Sendable () throws(E) -> T
) async throws(E) -> T {
  try await withCheckedContinuation { continuation in
    // Not a global queue: those have few threads, which others may block.
    DispatchQueue(label: "test.blocking").async { continuation.resume(returning: Result(catching: work)) }
  }.get()
}

extension StoreFixture {
  package func shard(_ account: Int) -> ShardID { ShardID(homeAccountID: "\(account).t", group: group) }

  fileprivate var isOneDocument: Bool { !Self.abilities.contains(.shards) }

  /// A document of an account with a number in it.
  package func document(account: Int, number: Int, padding: Int = 0) throws -> CacheDocument {
    let json = #"""
      {"Account": {"\#(account).t-e-t": {"home_account_id": "\#(account).t", "environment": "e", "realm": "t",
        "number": "\#(number)", "padding": "\#(String(repeating: "x", count: padding))"}}}
      """#
    return try CacheDocument(json: Data(json.utf8))
  }

  package func number(in document: CacheDocument) -> Int? {
    document.accounts.values.first?.fields["number"]?.stringValue.flatMap { Int($0) }
  }
}

extension StoreFixture {
  /// Adds one to the number of an account, which begins with 0.
  package func increment(_ account: Int, in contents: inout GroupContents, padding: Int = 0) -> Int {
    let shard = shard(account)
    let number = (number(in: contents[shard]) ?? 0) + 1
    let document = try? document(account: account, number: number, padding: padding)
    contents[shard] = document ?? CacheDocument()
    return number
  }
}

extension CacheStore {
  /// Writes the documents of accounts in one change.
  package func write(
    _ number: Int, to accounts: [Int], of fixture: any StoreFixture, padding: Int = 0
  ) async throws {
    let documents = try accounts.map { account in
      (fixture.shard(account), try fixture.document(account: account, number: number, padding: padding))
    }
    try await update(documents.map(\.0), in: fixture.group) { contents in
      for (shard, document) in documents { contents[shard] = document }
    }
  }

  /// Adds one to the number of an account, which begins with 0.
  @discardableResult
  package func increment(
    _ account: Int, of fixture: any StoreFixture, padding: Int = 0
  ) async throws -> Int {
    let shard = fixture.shard(account)
    return try await update([shard], in: fixture.group) { contents in
      fixture.increment(account, in: &contents, padding: padding)
    }
  }

  /// The numbers of the accounts in the group, which has no problem.
  package func numbers(of fixture: any StoreFixture) async throws -> [Int: Int] {
    let contents = try await read(.all, in: fixture.group)
    #expect(contents.problems.isEmpty, "\(contents.problems)")
    var numbers: [Int: Int] = [:]
    for account in 0..<200 {
      guard let document = contents.documents[fixture.shard(account)] else { continue }
      numbers[account] = fixture.number(in: document)
    }
    #expect(numbers.count == contents.documents.count)
    return numbers
  }
}
