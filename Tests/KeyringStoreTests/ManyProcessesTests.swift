import CacheWorker
import SecretService
import TestSupport
import Testing
import TokenCache

/// What many processes that save into one group at once leave behind.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ManyProcessesTests {
  private static let processes = 8
  private static let accounts = 20

  @Test func `Eight processes that save 200 responses each lose none`() async throws {
    let fixture = try Fixture()
    let saves = 200
    let workers = try (0..<Self.processes).map {
      try Worker(fixture.keyring, "save", fixture.group.name, "w\($0)", "\(saves)", "\(Self.accounts)")
    }
    var acknowledged: [String] = []
    for worker in workers {
      let (lines, status) = await worker.finish()
      #expect(status == 0)
      acknowledged += lines
    }
    #expect(acknowledged.count == Self.processes * saves)
    let found = try await fixture.check()
    #expect(found.names == Set(acknowledged))
    print(found.summary(of: acknowledged))
  }

  @Test func `What was acknowledged stays although writers are killed all the time`() async throws {
    let fixture = try Fixture()
    func worker(_ name: String) throws -> Worker {
      try Worker(fixture.keyring, "save", fixture.group.name, name, "1000", "\(Self.accounts)")
    }
    var workers = try (0..<Self.processes).map { try worker("w\($0)") }
    var acknowledged: [String] = []
    let rounds = 80
    for round in 0..<rounds {
      let slot = round % Self.processes
      let victim = workers[slot]
      // It has begun to save, and is killed at one moment or another of what it does then.
      acknowledged.append(await victim.nextLine())
      try await Task.sleep(for: .milliseconds(round))
      victim.kill()
      workers[slot] = try worker("r\(round)")
      acknowledged += await victim.finish().lines
    }
    for worker in workers { worker.kill() }
    for worker in workers { acknowledged += await worker.finish().lines }

    let found = try await fixture.check()
    #expect(found.names.isSuperset(of: acknowledged))
    // Of each victim one save at most was under way.
    #expect(found.names.count <= acknowledged.count + rounds + Self.processes)
    print("\(rounds + Self.processes) processes killed, " + found.summary(of: acknowledged))
    // The lock is free, and who comes next finds and saves.
    let token = SampleToken("last", account: 0)
    try await fixture.cache.save(token)
    #expect(try await fixture.otherCache().finds(token))
  }
}

/// What is in a group, item by item.
private struct Findings {
  var names: Set<String> = []
  var duplicates = 0
  var damaged = 0

  func summary(of acknowledged: [String]) -> String {
    "\(names.intersection(acknowledged).count) of \(acknowledged.count) saves found, "
      + "\(duplicates) duplicate items, \(damaged) damaged"
  }
}

extension Fixture {
  /// Reads every item of the group as it is, and checks each record.
  fileprivate func check() async throws -> Findings {
    var findings = Findings()
    var shards: Set<String> = []
    for item in try await allItems() {
      let shard = try #require(item.properties.attributes["shard"])
      #expect(item.properties.attributes == attributes(ShardID(rawValue: shard)))
      if !shards.insert(shard).inserted { findings.duplicates += 1 }
      guard let document = try? item.document else {
        findings.damaged += 1
        continue
      }
      if shard == commonShard.rawValue { continue }
      for credential in document.accessTokens.values {
        let token = try #require(AccessToken(credential))
        let name = try #require(SampleToken.name(ofAccessToken: token.secret))
        #expect(token.credential.target == SampleToken(name, account: 0).scope)
        #expect(ShardID(homeAccountID: token.homeAccountID, group: group).rawValue == shard)
        #expect(findings.names.insert(name).inserted)
      }
      #expect(document.accounts.count == 1)
      #expect(document.idTokens.count == 1)
      #expect(document.refreshTokens.count == 1)
    }
    #expect(findings.duplicates == 0)
    #expect(findings.damaged == 0)
    #expect(try await cache.export().problems.isEmpty)
    return findings
  }
}
