import FoundationEssentials
import Synchronization
import Testing
import TokenCache

@testable import IdentityClient

/// Errors say whose account they are about.
struct AccountInErrorTests {
  let test: TestClient

  init() throws { test = try TestClient() }

  @Test func `A silent request that is refused names its account`() async throws {
    let account = try await test.signIn().account
    test.transport.answerTokens(.refusal("invalid_grant"))
    let error = await refusal { () throws(IdentityError) in
      try await test.silent(account) { $0.forceRefresh = true }
    }
    #expect(error?.code == .interactionRequired)
    #expect(error?.homeAccountID == account.homeAccountID)
    #expect(error?.displayableID == account.username && account.username != nil)
  }

  @Test func `An interactive request names the account that was asked for`() async throws {
    let account = try await test.signIn().account
    test.browser.person { _ throws(IdentityError) in throw IdentityError(.userCanceled, "No.") }
    let error = await refusal { () throws(IdentityError) in
      try await test.client.acquireToken(InteractiveRequest(scopes: ["User.Read"], account: account))
    }
    #expect(error?.code == .userCanceled && error?.homeAccountID == account.homeAccountID)
  }

  @Test func `Where nobody is known nobody is named`() async throws {
    test.browser.person { _ throws(IdentityError) in throw IdentityError(.userCanceled, "No.") }
    let error = await refusal { () throws(IdentityError) in
      try await test.client.acquireToken(InteractiveRequest(scopes: ["User.Read"]))
    }
    #expect(error?.code == .userCanceled && error?.homeAccountID == nil && error?.displayableID == nil)
  }

  @Test func `Declined scopes name who signed in`() async throws {
    let error = await refusal { () throws(IdentityError) in
      try await test.signIn(request: InteractiveRequest(scopes: ["User.Read", "Mail.Read"]))
    }
    #expect(error?.code == .serverDeclinedScopes)
    #expect(error?.homeAccountID == error?.result?.account.homeAccountID && error?.homeAccountID != nil)
  }

  /// A protection policy is about an account that only the server knows; it says which in the refusal.
  @Test func `The account that a server names in its refusal is the one`() throws {
    let clientInfo = Data(#"{"uid":"some","utid":"body"}"#.utf8).base64URL
    let failure = try #require(
      OAuthFailure(fields: [
        "error": "unauthorized_client", "suberror": "protection_policy_required",
        "adi": "alice@contoso.test", "client_info": .string(clientInfo),
      ]))
    let error = IdentityError(failure)
    #expect(error.code == .serverProtectionPoliciesRequired)
    #expect(error.homeAccountID == "some.body" && error.displayableID == "alice@contoso.test")
  }

  @Test func `An error never mixes the account of the request with another`() async throws {
    let account = try await test.signIn().account
    let other = Data(#"{"uid":"some","utid":"body"}"#.utf8).base64URL
    test.transport.answerTokens(.refusal("invalid_grant", adding: ["client_info": .string(other)]))
    let unnamed = await refusal { () throws(IdentityError) in
      try await test.silent(account) { $0.forceRefresh = true }
    }
    #expect(unnamed?.homeAccountID == "some.body" && unnamed?.displayableID == nil)
    test.browser.person { _ throws(IdentityError) in
      var error = IdentityError(.userCanceled, "No.")
      error.displayableID = "mallory@contoso.test"
      throw error
    }
    let named = await refusal { () throws(IdentityError) in
      try await test.client.acquireToken(InteractiveRequest(scopes: ["User.Read"], account: account))
    }
    #expect(named?.displayableID == "mallory@contoso.test" && named?.homeAccountID == nil)
    test.browser.person { _ throws(IdentityError) in
      var error = IdentityError(.userCanceled, "No.")
      error.homeAccountID = account.homeAccountID
      throw error
    }
    let same = await refusal { () throws(IdentityError) in
      try await test.client.acquireToken(InteractiveRequest(scopes: ["User.Read"], account: account))
    }
    #expect(same?.displayableID == account.username && account.username != nil)
  }

  @Test func `A device that has to be registered is told from other refusals`() throws {
    let fields: JSONObject = [
      "error": "interaction_required", "error_codes": .array([.integer(50129)]),
      "error_description": "AADSTS50129: device",
    ]
    let failure = try #require(OAuthFailure(fields: fields))
    #expect(failure.code == .workplaceJoinRequired)
    // Nobody watches a silent request: signing in comes first.
    #expect(IdentityError(failure).forSilentRequest.code == .interactionRequired)
  }

  private func refusal<T>(_ work: () async throws(IdentityError) -> T) async -> IdentityError? {
    do throws(IdentityError) {
      _ = try await work()
      return nil
    } catch {
      return error
    }
  }
}
