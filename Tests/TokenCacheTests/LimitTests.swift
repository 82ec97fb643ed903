import Foundation
import TestSupport

@testable import TokenCache

/// Documents beyond a reader's limits are not written.
struct LimitTests {
  private static func nested(_ levels: Int) -> JSONValue {
    (1..<levels).reduce(JSONValue.array([])) { value, _ in .array([value]) }
  }

  private static func document(_ section: JSONValue) -> CacheDocument {
    var document = CacheDocument()
    document.otherSections["a"] = section
    return document
  }

  /// Documents that are this much larger than the largest.
  private typealias Sizes = @Sendable (_ excess: Int) -> CacheDocument

  private static let sizes: [Named<Sizes>] = [
    Named("values", { document(.array(Array(repeating: .null, count: 999_999 + $0))) }),
    Named("levels", { document(nested(127 + $0)) }),
  ]

  @Test(.requirement("R10.1"), .fault("too deep"), arguments: sizes)
  private func `A document at the limits is written and read, and none beyond them is written`(
    _ document: Named<Sizes>
  ) throws {
    let (largest, tooLarge) = (document.value(0), document.value(1))
    #expect(try CacheDocument(json: largest.json()) == largest)
    #expect(throws: CacheError(.tooLarge, "")) { try tooLarge.json() }
    #expect(throws: CacheError.self) { try tooLarge.withJSON { _ in } }
  }

  @Test(arguments: [0, 1])
  func `JSON of the largest size is read and written, and none of a byte more`(_ excess: Int) {
    let json = Data(#"{"a":[1]}"#.utf8)
    let limits = JSONLimits(size: json.count - excess, depth: 9, values: 9)
    let value = JSONValue.object(["a": .array([.integer(1)])])
    #expect((try? JSONValue(foreign: json, within: limits)) == (excess == 0 ? value : nil))
    #expect((try? JSONWriter.bytes(of: value, within: limits)) == (excess == 0 ? Array(json) : nil))
  }

  /// A search in all of them for each would take an hour.
  @Test(.fault("many records"), .timeLimit(.minutes(5)))
  func `An account that is known in four thousand tenants is listed`() throws {
    let document = CacheDocument(
      (0..<4000).flatMap { number -> [SampleRecord] in
        let (key, realm) = ("\(number)", "tenant-\(number)")
        return [.account(key: key, realm: realm), .idToken("e30.e30.", key: key, realm: realm)]
      })
    let account = try #require([document].accounts(clientID: "c", in: .known).first)
    #expect(account.tenantProfiles.count == 4000)
    #expect(account.tenantProfiles.allSatisfy { $0.claims != nil })
  }

  @Test(.fault("many records"), .timeLimit(.minutes(5)))
  func `Fifty thousand accounts, half of them signed in, are listed`() throws {
    var documents: [ShardID: CacheDocument] = [:]
    for number in 0..<50_000 {
      let id = "u\(number).t"
      var document = CacheDocument()
      document.accounts["a"] = AccountRecord(homeAccountID: id, environment: "e", realm: "t")
      if number % 2 == 0 {
        document.updateAccountMetadata(clientID: "c") { $0.setSignInState(.signedIn, of: id) }
      }
      documents[ShardID(homeAccountID: id, group: .default)] = document
    }
    let snapshot = CacheSnapshot(
      contents: GroupContents(documents: documents), cache: TokenCacheAccessor(store: InMemoryStore()),
      clouds: .known)
    #expect(try snapshot.accounts(AccountFilter(clientID: "c")).count == 25_000)
  }

  /// A list that was copied for each record would take half an hour.
  @Test(.fault("many records"), .timeLimit(.minutes(10)))
  func `A hundred thousand records are merged, listed and removed`() {
    let document = CacheDocument((0..<100_000).map { .accessToken("s", key: "\($0)") })
    var all = CacheDocument(union: [document])
    #expect(all == document)
    #expect(all.credentials.count == 100_000)
    #expect(all.removeCredentials { _ in true }.count == 100_000)
    #expect(all.isEmpty)
  }
}
