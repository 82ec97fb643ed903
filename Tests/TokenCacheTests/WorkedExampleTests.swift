import Foundation
import TestSupport

@testable import TokenCache

/// The worked example of `CacheFormat.md`: a group in the keyring.
struct WorkedExampleTests {
  private static let group = "com.example.office"
  private static let homeAccountID =
    "55555555-6666-4777-8888-999999999999.66666666-7777-4888-8999-aaaaaaaaaaaa"

  /// The items in the example: the one without an account, and the account's.
  private func shards() throws -> [(id: ShardID, document: JSONObject)] {
    try SharedFiles.workedExamples(with: "attributes").map { item in
      (ShardID(rawValue: try item.object("attributes").string("shard")), try item.object("secret"))
    }
  }

  @Test func `The shards have the names that the document says`() throws {
    let group = try KeychainGroup(Self.group)
    let ids = [nil, Self.homeAccountID].map { ShardID(homeAccountID: $0, group: group) }
    #expect(try shards().map(\.id) == ids)
  }

  @Test func `A response is kept as the document says`() async throws {
    let shards = try shards()
    try #require(shards.count == 2)
    let test = TestCache(group: try KeychainGroup(Self.group))
    test.setClock(1_795_227_021 - TestCache.start)
    let claims = """
      {"oid": "55555555-6666-4777-8888-999999999999", "tid": "66666666-7777-4888-8999-aaaaaaaaaaaa", \
      "name": "Dora Example", "preferred_username": "dora@contoso.example", "sub": "Dora"}
      """
    let person =
      #"{"uid": "55555555-6666-4777-8888-999999999999", "utid": "66666666-7777-4888-8999-aaaaaaaaaaaa"}"#
    let identity = "e30.\(Data(claims.utf8).base64URL)."
    let response = TokenResponse(fields: [
      "token_type": "Bearer", "scope": "Calendars.Read Mail.Read openid profile",
      "access_token": "made-up-access-token", "refresh_token": "made-up-refresh-token",
      "expires_in": .integer(3600), "id_token": .string(identity),
      "client_info": .string(Data(person.utf8).base64URL),
    ])
    try await test.cache.save(
      response,
      for: TokenRequest(
        environment: "login.microsoftonline.com", clientID: "33333333-4444-4555-8666-777777777777"))

    let kept = try test.store.read(.all, in: test.cache.group).documents
    #expect(kept.count == 2)
    for shard in shards {
      #expect(kept[shard.id]?.sections == shard.document)
    }
  }
}
