import Foundation
import TestSupport

@testable import TokenCache

/// JSON made to exhaust its reader is refused with the reason.
struct HostileJSONTests {
  private static let deep =
    String(repeating: #"{"a":"#, count: 100_000) + "1" + String(repeating: "}", count: 100_000)
  private static let deepArrays = #"{"a":"# + String(repeating: "[", count: 100_000)
  private static let manyKeys = "{" + (0...1_000_000).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
  private static let manyElements = #"{"a":["# + String(repeating: "[],", count: 600_000) + "[]]}"

  @Test(arguments: [Named("objects", deep), Named("arrays", deepArrays)])
  func `A hundred thousand levels are too deep`(text: Named<String>) {
    expectDamage(text.value, "nested deeper than 128 levels")
    expectInvalidResponse(text.value, "nested deeper than 64 levels")
    #expect(IDTokenClaims(token: "e30." + Data(text.value.utf8).base64URL + ".") == nil)
    #expect(ClientInfo(raw: Data(text.value.utf8).base64URL) == nil)
  }

  @Test(arguments: [Named("keys", manyKeys), Named("elements", manyElements)])
  func `A million values are too many`(text: Named<String>) {
    expectDamage(text.value, "more than 1000000 values")
    expectInvalidResponse(text.value, "larger than 1 MiB")
    let part = String(text.value.prefix(900_000))
    expectInvalidResponse(part, "more than 20000 values")
    #expect(IDTokenClaims(token: "e30." + Data(part.utf8).base64URL + ".") == nil)
  }

  @Test func `Brackets in texts do not count`() throws {
    let text = String(repeating: #"[{,\""#, count: 10_000)
    let json = Data(#"{"\\":"\#(text)","a":"\\"}"#.utf8)
    let document = try CacheDocument(json: json)
    #expect(document.otherSections["\\"]?.stringValue?.count == 40_000)
    #expect(try TokenResponse(json: json).fields.count == 2)
  }

  @Test(
    arguments: [
      String(repeating: "9", count: 100_000), "-" + String(repeating: "9", count: 100_000),
      "0." + String(repeating: "1", count: 100_000), "1e999999999", "1e-999999999", "-1e400",
      "1e" + String(repeating: "9", count: 100_000),
    ].abbreviated)
  func `Huge numbers do no harm`(number: Named<String>) throws {
    let number = number.value
    for member in ["expires_in", "\u{1}"] {
      let json = Data("{\"AccessToken\":{\"a\":{\"expires_on\":\(number)}},\"\(member)\":\(number)}".utf8)
      do throws(CacheError) {
        let document = try CacheDocument(json: json)
        #expect(try CacheDocument(json: document.json()) == document)
        #expect(document.accessTokens["a"]?.expiresOn.map { $0 < .distantFuture } ?? true)
      } catch {
        #expect(error == CacheError(.damaged, ""))
      }
      let response = try? TokenResponse(json: json)
      let now = Date(timeIntervalSince1970: 1_800_000_000)
      #expect(response.map { (now...now.addingTimeInterval(3600)).contains($0.expiresOn(at: now)) } ?? true)
    }
  }

  @Test func `Other encodings are refused`() throws {
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32BigEndian] {
      expectDamage(try #require(#"{"a":1}"#.data(using: encoding)), "not a JSON object")
    }
  }

  /// A merge that compared each record with each would take half an hour.
  @Test(.fault("many records"), .timeLimit(.minutes(10)))
  func `A file with many records of one account is imported`() async throws {
    let cache = TokenCacheAccessor(store: InMemoryStore())
    var document = CacheDocument(
      (0..<5000).map { .accessToken("s", key: "key-\($0)", scopes: "scope-\($0)") })
    for number in 0..<5000 {
      document.accountMetadata["app-\(number)"] = AccountMetadata(clientID: "client-\(number)")
    }
    #expect(try await cache.import(document) == ImportSummary(saved: 10_000))
    #expect(try await cache.import(document) == ImportSummary(kept: 10_000))
    #expect(try await cache.snapshot().document == document)
  }

  private func expectDamage(_ text: String, _ reason: String) { expectDamage(Data(text.utf8), reason) }

  private func expectDamage(_ json: Data, _ reason: String) {
    let error = #expect(throws: CacheError(.damaged, "")) { try CacheDocument(json: json) }
    #expect(error?.message.contains(reason) == true)
  }

  private func expectInvalidResponse(_ text: String, _ reason: String) {
    let error = #expect(throws: CacheError(.invalidResponse, "")) { try TokenResponse(json: Data(text.utf8)) }
    #expect(error?.message.contains(reason) == true)
  }
}
