import Foundation
import TestSupport

@testable import IdentityClient

/// Tokens that are bound to a key, with keys that sign nothing.
struct PopTests {
  private static let address = "https://api.contoso.test/orders"

  /// Keys that say what they were asked to sign.
  private final class TestKeys: PopKeyProvider {
    let id = Mutex("key-1")
    let error = Mutex<CacheError?>(nil)

    struct Key: PopKey {
      let id: String

      func signedRequest(
        _ scheme: PopScheme, accessToken: String, at date: Date
      ) throws(IdentityError) -> String {
        let time = Int(date.timeIntervalSince1970)
        return "\(id)|\(accessToken)|\(scheme.httpMethod ?? "")|\(scheme.url)|\(scheme.nonce ?? "")|\(time)"
      }
    }

    func key(for cache: TokenCacheAccessor) throws(CacheError) -> any PopKey {
      if let error = error.withLock({ $0 }) { throw error }
      return Key(id: id.withLock { $0 })
    }
  }

  private let keys = TestKeys()

  private let test: TestClient

  init() { test = TestClient(popKeys: keys) }

  private func scheme(
    _ method: String = "GET", address: String = address, nonce: String? = nil
  ) -> PopScheme? {
    URL(string: address).map { PopScheme(httpMethod: method, url: $0, nonce: nonce) }
  }

  private func interactive(_ scopes: [String] = ["User.Read"], address: String = address)
    -> InteractiveRequest
  {
    var request = InteractiveRequest(scopes: scopes)
    request.authenticationScheme = scheme(address: address)
    return request
  }

  private func signIn() async throws -> AuthenticationResult {
    try await test.signIn(changing: ["token_type": "pop"], request: interactive())
  }

  private func expectBound(_ form: [String: String]?) throws {
    #expect(form?["token_type"] == "Pop")
    // The thumbprint is given by its name alone.
    #expect(form?["req_cnf"] == Data(#"{"kid":"key-1"}"#.utf8).base64URL)
  }

  @Test func `Only the token endpoint gets the key, and a sign-in gives a signed request`() async throws {
    let result = try await signIn()
    try expectBound(test.transport.tokenRequests.last?.form)
    #expect(test.browser.lastQuery["req_cnf"] == nil && test.browser.lastQuery["token_type"] == nil)
    let time = Int(test.clock.now.timeIntervalSince1970)
    #expect(result.accessToken == "key-1|access-1|GET|\(Self.address)||\(time)")
    #expect(result.authorizationHeader == "Pop \(result.accessToken)")
    #expect(!"\(result)".contains("access-1"))
  }

  @Test func `A key is named as MSAL for iOS and macOS names it`() throws {
    let rows = VectorFile.rows("schema_configurations").compactMap {
      $0.fields["authSchemeParams"]?.objectValue
    }
    let row = try #require(rows.first { $0["token_type"] == "Pop" })
    let confirmation = try #require(row["req_cnf"]?.stringValue)
    let json = try JSONSerialization.jsonObject(with: try #require(Data(base64URL: confirmation)))
    let id = try #require((json as? [String: String])?["kid"])
    let proof: PopProof? = PopProof(scheme: try #require(scheme()), key: TestKeys.Key(id: id))
    #expect(proof.parameters.mapValues(JSONValue.string) == row)
  }

  @Test func `The cache has the token as it came, with the key it is bound to`() async throws {
    let result = try await signIn()
    let token = try #require(try await test.cache.snapshot().document.accessTokens.first)
    #expect(token.key.contains("-accesstoken_with_authscheme-") && token.key.hasSuffix("-pop"))
    #expect(token.value.credentialType == .accessTokenWithAuthScheme)
    #expect(token.value.secret == "access-1")
    #expect(token.value.kid == "key-1")
    #expect(token.value.tokenType == "Pop")
    let json = try await String(decoding: test.cache.snapshot().document.json(), as: UTF8.self)
    #expect(!json.contains(result.accessToken))
  }

  @Test func `Each result from the cache is signed anew, for its own request`() async throws {
    let account = try await signIn().account
    let requests = test.transport.requests.count
    test.clock.advance(7)
    for method in ["GET", "POST"] {
      let result = try await test.silent(account) { $0.authenticationScheme = scheme(method, nonce: "n") }
      let time = Int(test.clock.now.timeIntervalSince1970)
      #expect(result.accessToken == "key-1|access-1|\(method)|\(Self.address)|n|\(time)")
      #expect(result.tokenType == "Pop")
      #expect(result.source == .cache)
    }
    var request = SilentRequest(scopes: ["User.Read"], account: account)
    request.authenticationScheme = scheme()
    #expect(
      try await test.client.acquireTokenFromCache(request)?.accessToken.hasPrefix("key-1|access-1|") == true)
    #expect(test.transport.requests.count == requests)
  }

  @Test func `A token of another key is ignored, and replaced by one of the present key`() async throws {
    let account = try await signIn().account
    keys.id.withLock { $0 = "key-2" }
    test.transport.answerTokens(test.tokens("at-2", changing: ["token_type": "pop"]))
    let result = try await test.silent(account) { $0.authenticationScheme = scheme() }
    #expect(result.accessToken.hasPrefix("key-2|at-2|"))
    #expect(try await test.secrets(.accessToken) == ["at-2"])
    #expect(try await test.secrets(.refreshToken).count == 1)
  }

  @Test func `The device code grant names the key when it asks for the token`() async throws {
    test.transport.answerDevices(.deviceCode())
    test.transport.answerTokens(test.tokens("access-1", changing: ["token_type": "pop"]))
    var request = DeviceCodeRequest(scopes: ["User.Read"]) { _ in }
    request.authenticationScheme = scheme()
    let result = try await test.client.acquireToken(request)
    #expect(result.accessToken.hasPrefix("key-1|access-1|"))
    try expectBound(test.transport.tokenRequests.last?.form)
    let asked = test.transport.requests.first { $0.url.path.hasSuffix("/devicecode") }
    #expect(asked?.form["req_cnf"] == nil && asked?.form["token_type"] == nil)
  }

  @Test(.conformance(66), arguments: ["Bearer", "ssh-cert", nil])
  func `A token that is not bound is refused, and nothing is stored`(_ type: String?) async throws {
    let change = type.map(JSONValue.string) ?? .null
    await expectError(.invalidResponse) {
      try await test.signIn(changing: ["token_type": change], request: interactive())
    }
    #expect(try await test.recordCount() == 0)
  }

  @Test func `A token that is not bound is refused, but the new refresh token is kept`() async throws {
    let account = try await test.signIn().account
    test.transport.answerTokens(test.tokens("at-2"))
    await expectError(.invalidResponse) {
      try await test.silent(account) { $0.authenticationScheme = scheme() }
    }
    #expect(try await test.secrets(.refreshToken) == ["refresh-2"])
    #expect(try await test.secrets(.accessToken) == ["access-1"])
  }

  @Test func `Callers at once share a renewal, and each gets its own signed request`() async throws {
    let account = try await test.signIn().account
    test.transport.answerTokens(test.tokens("at-2", changing: ["token_type": "pop"]))
    let results = try await atOnce(0..<8) { number in
      try await test.silent(account) { $0.authenticationScheme = scheme(nonce: "\(number)") }.accessToken
    }
    #expect(Set(results).count == 8)
    #expect(results.allSatisfy { $0.contains("|at-2|") })
    #expect(test.transport.tokenRequests.count == 2)
  }

  @Test func `A result inside of an error is a signed request as well`() async throws {
    let error = await expectError(.serverDeclinedScopes) {
      try await test.signIn(
        scopes: ["User.Read"], changing: ["token_type": "pop"],
        request: interactive(["User.Read", "Mail.Read"]))
    }
    #expect(error?.result?.accessToken.hasPrefix("key-1|access-1|") == true)
    #expect(error?.result?.tokenType == "Pop")
  }

  @Test func `What cannot be asked for is an error before anything is sent`() async throws {
    let without = TestClient()
    let missing = await expectError(.invalidParameter) { try await without.signIn(request: interactive()) }
    #expect(missing?.advice?.contains("ProofOfPossession") == true)

    await expectError(.invalidParameter) { try await test.signIn(request: interactive(address: "/orders")) }

    keys.error.withLock { $0 = CacheError(.locked, "The keyring is locked.") }
    let locked = await #expect(throws: IdentityError.self) { try await test.signIn(request: interactive()) }
    #expect(locked?.cacheError?.code == .locked)

    let account = Account(homeAccountID: "u.t", username: nil, environment: "", tenantProfiles: [])
    await expectError(.invalidParameter) {
      try await test.silent(account) { $0.extraQueryParameters = ["req_cnf": "x"] }
    }
    #expect(without.browser.pages.isEmpty && test.browser.pages.isEmpty)
    #expect(without.transport.requests.isEmpty && test.transport.requests.isEmpty)
  }
}
