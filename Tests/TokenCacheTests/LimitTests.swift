import Foundation
import TestSupport
import Testing

@testable import TokenCache

/// What no reader takes, no writer makes.
struct LimitTests {
  private static func nested(_ levels: Int) -> JSONValue {
    (1..<levels).reduce(JSONValue.array([])) { value, _ in .array([value]) }
  }

  private static func document(_ section: JSONValue) -> CacheDocument {
    var document = CacheDocument()
    document.otherSections["a"] = section
    return document
  }

  @Test(arguments: [
    Named("values", document(.array(Array(repeating: .null, count: 1_000_000)))),
    Named("levels", document(nested(128))),
  ])
  func `More than a reader takes is not written`(_ document: Named<CacheDocument>) {
    let error = #expect(throws: CacheError.self) { try document.value.json() }
    #expect(error?.code == .tooLarge)
    #expect(throws: CacheError.self) { try document.value.withJSON { _ in } }
  }

  @Test(arguments: [
    Named("values", document(.array(Array(repeating: .null, count: 999_999)))),
    Named("levels", document(nested(127))),
  ])
  func `What a reader just takes is written, and read`(_ document: Named<CacheDocument>) throws {
    #expect(try CacheDocument(json: document.value.json()) == document.value)
  }

  /// A list that was copied for each record would take hours.
  @Test(.timeLimit(.minutes(20)))
  func `Two hundred thousand records are brought together, listed and removed`() {
    var document = CacheDocument()
    for number in 0..<200_000 {
      document.accessTokens["\(number)"] = Credential(
        type: .accessToken, homeAccountID: "u.t", environment: "e", clientID: "c", secret: "s")
    }
    var all = CacheDocument()
    all.formUnion(document)
    #expect(all == document)
    #expect(all.credentials.count == 200_000)
    #expect(all.removeCredentials { _ in true }.count == 200_000)
    #expect(all.isEmpty)
  }
}
