import TestSupport

@testable import IdentityClient

/// Errors say whose account they are about.
struct AccountInErrorTests {
  private let test = TestClient()
  private static let clientInfo = Data(#"{"uid":"some","utid":"body"}"#.utf8).base64URL

  @Test func `A silent request that is refused names its account`() async throws {
    let account = try await test.signIn().account
    test.transport.answerTokens(.refusal("invalid_grant"))
    let error = await expectError(.interactionRequired) { try await test.renew(account) }
    #expect(error?.homeAccountID == account.homeAccountID)
    #expect(error?.displayableID == account.username && account.username != nil)
  }

  /// The error of a sign-in that the person cancels; `change` is what the browser says of it.
  private func cancelSignIn(
    of account: Account? = nil, change: @escaping @Sendable (inout IdentityError) -> Void = { _ in }
  ) async -> IdentityError? {
    test.browser.person { _ throws(IdentityError) in
      var error = IdentityError(.userCanceled, "No.")
      change(&error)
      throw error
    }
    return await expectError(.userCanceled) { try await test.acquire(account: account) }
  }

  @Test func `An error without an account names none`() async throws {
    let error = try #require(await cancelSignIn())
    #expect(error.homeAccountID == nil && error.displayableID == nil)
  }

  /// A protection policy is about an account that only the server knows; it says which in the refusal.
  @Test func `The account that a server names in its refusal is the one`() throws {
    let error = try #require(
      IdentityError(refusal: [
        "error": "unauthorized_client", "suberror": "protection_policy_required",
        "adi": "alice@contoso.test", "client_info": .string(Self.clientInfo),
      ]))
    #expect(error.code == .serverProtectionPoliciesRequired)
    #expect(error.homeAccountID == "some.body" && error.displayableID == "alice@contoso.test")
  }

  @Test func `An error never mixes the account of the request with another`() async throws {
    let account = try await test.signIn().account
    test.transport.answerTokens(
      .refusal("invalid_grant", adding: ["client_info": .string(Self.clientInfo)]))
    let unnamed = await #expect(throws: IdentityError.self) { try await test.renew(account) }
    #expect(unnamed?.homeAccountID == "some.body" && unnamed?.displayableID == nil)
    let named = await cancelSignIn(of: account) { $0.displayableID = "mallory@contoso.test" }
    #expect(named?.displayableID == "mallory@contoso.test" && named?.homeAccountID == nil)
    let same = await cancelSignIn(of: account) { $0.homeAccountID = account.homeAccountID }
    #expect(same?.displayableID == account.username && account.username != nil)
  }

  @Test func `A device that has to be registered is told from other refusals`() throws {
    let fields: JSONObject = [
      "error": "interaction_required", "error_codes": .array([.integer(50129)]),
      "error_description": "AADSTS50129: device",
    ]
    let error = try #require(IdentityError(refusal: fields))
    #expect(error.code == .workplaceJoinRequired)
    // No one sees a silent request: signing in comes first.
    #expect(error.forSilentRequest.code == .interactionRequired)
  }
}
