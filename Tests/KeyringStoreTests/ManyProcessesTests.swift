import SecretService
import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// What many processes that save into one group at once leave behind.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ManyProcessesTests {
  @Test func `Eight processes that save 200 responses each lose none`() async throws {
    let fixture = try Fixture()
    let acknowledged = try await fixture.saveByEightProcesses()
    let found = try await fixture.check()
    #expect(found.names == Set(acknowledged))
    print(found.summary(of: acknowledged))
  }

  @Test func `What was acknowledged stays although writers are killed all the time`() async throws {
    let fixture = try Fixture()
    let (acknowledged, killed) = try await fixture.saveByProcessesThatAreKilled()
    let found = try await fixture.check()
    #expect(found.names.isSuperset(of: acknowledged))
    // Of each victim one save at most was under way.
    #expect(found.names.count <= acknowledged.count + killed)
    print("\(killed) processes killed, " + found.summary(of: acknowledged))
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
    #expect(try await cache.snapshot().problems.isEmpty)
    return findings
  }
}
