import Testing
package import TokenCache
import WorkerSupport

/// A group in a store, for what every store has to hold to when many work on one group at once.
package protocol StoreFixture {
  var group: KeychainGroup { get }
  var cache: TokenCacheAccessor { get }

  /// Starts a `CacheWorker` that uses the store.
  func worker(_ arguments: [String]) throws -> Worker
}

extension StoreFixture {
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

  private var writerCount: Int { 8 }

  private func writer(_ name: String, saves: Int) throws -> Worker {
    try worker("save", group.name, name, "\(saves)", "20")
  }
}
