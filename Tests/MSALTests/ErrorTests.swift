import Foundation
import HTTPSupport
import IdentityClient
@testable import MSAL
import Testing
import TokenCache

/// Errors are `NSError` objects with all details.
struct ErrorTests {
  @Test func `An identity error carries the server's details`() {
    var cause = IdentityError(.interactionRequired, "Sign in again.", advice: "Call acquireToken.")
    cause.oauthError = "invalid_grant"
    cause.subError = "bad_token"
    cause.oauthErrorDescription = "AADSTS70043: expired"
    cause.stsErrorCodes = [70043]
    cause.httpStatus = 400
    cause.httpHeaders = ["x-ms-request-id": "1"]
    cause.correlationID = UUID(uuidString: "11111111-2222-4333-8444-555555555555")
    cause.claims = "{\"access_token\":{}}"
    cause.isThrottled = true

    let error = caught(NSError(cause))
    #expect(error?.domain == MSALErrorDomain)
    #expect(error?.code == MSALError.interactionRequired.rawValue)
    #expect(error?.localizedDescription == "Sign in again. Call acquireToken.")
    #expect(error?.localizedRecoverySuggestion == "Call acquireToken.")
    let info = error?.userInfo ?? [:]
    #expect(info[MSALInternalErrorCodeKey] == nil)
    #expect(info[MSALOAuthErrorKey] as? String == "invalid_grant")
    #expect(info[MSALOAuthSubErrorKey] as? String == "bad_token")
    #expect(info[MSALErrorDescriptionKey] as? String == "AADSTS70043: expired")
    #expect(info[MSALSTSErrorCodesKey] as? [Int] == [70043])
    #expect(info[MSALHTTPResponseCodeKey] as? String == "400")
    #expect(info[MSALHTTPHeadersKey] as? [String: String] == ["x-ms-request-id": "1"])
    #expect(info[MSALCorrelationIDKey] as? String == "11111111-2222-4333-8444-555555555555")
    #expect(info[MSALClaimsKey] as? String == "{\"access_token\":{}}")
    #expect(info[MSALThrottlingCacheHitKey] as? Int == 1)
  }

  @Test func `Only actionable errors have their own code`() {
    let own: [IdentityError.Code: MSALError] = [
      .workplaceJoinRequired: .workplaceJoinRequired, .interactionRequired: .interactionRequired,
      .serverDeclinedScopes: .serverDeclinedScopes,
      .serverProtectionPoliciesRequired: .serverProtectionPoliciesRequired, .userCanceled: .userCanceled,
      .cancelled: .userCanceled, .resetPasswordRequired: .serverInvalidRequestResetPasswordRequired,
    ]
    for code in IdentityError.Code.allCases {
      let error = NSError(IdentityError(code, "A test."))
      #expect(error.code == (own[code] ?? .internal).rawValue, "\(code)")
      #expect((error.userInfo[MSALInternalErrorCodeKey] == nil) == (own[code] != nil), "\(code)")
    }
  }

  @Test(arguments: [
    (IdentityError.Code.serverError, -50006), (.insufficientDeviceStrength, -50007),
    (.invalidParameter, -42000), (.redirectSchemeNotRegistered, -42001), (.invalidRequest, -42002),
    (.invalidClient, -42003), (.invalidGrant, -42004), (.invalidScope, -42005),
    (.unauthorizedClient, -42006), (.unhandledResponse, -42007), (.unexpected, -42008),
    (.unexpectedHTTPResponse, -42009), (.authorityValidationFailed, -42010), (.invalidRedirectURI, -42011),
    (.mismatchedUser, -42101), (.ambiguousAccount, -42102), (.authorizationFailed, -42104),
    (.accountRequired, -42106), (.interactiveSessionAlreadyRunning, -42402), (.noAuthenticator, -42403),
    (.browserUnavailable, -42403),
    (.invalidState, -42501), (.invalidResponse, -42600), (.nonHttpsRedirect, -42602),
  ])
  func `Internal error codes equal Apple's`(code: IdentityError.Code, internalCode: Int) {
    let error = NSError(IdentityError(code, "A test."))
    #expect(error.internalCode == internalCode)
  }

  @Test(
    arguments: [
      (.notConnected("login.example"), NSURLErrorNotConnectedToInternet),
      (.cannotFindHost("login.example"), NSURLErrorCannotFindHost),
      (.secureConnectionFailed("login.example"), NSURLErrorSecureConnectionFailed),
    ] as [(HTTPTransportError, Int)])
  func `A network failure has its own error domain`(_ failure: HTTPTransportError, _ code: Int) {
    var cause = IdentityError(.network, "The server cannot be reached.")
    cause.transportError = failure
    cause.failedURL = URL(string: "https://login.example/token")
    let error = NSError(cause)
    #expect(error.domain == NSURLErrorDomain)
    #expect(error.code == code)
    #expect((error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.host == "login.example")
    #expect(error.localizedDescription == "The server cannot be reached.")
    #expect(error.userInfo[NSUnderlyingErrorKey] is NSError)
  }

  @Test func `A locked keyring has Apple's error code`() {
    var cause = IdentityError(.cache, "The cache failed.")
    cause.cacheError = CacheError(.locked, "The keyring is locked.", advice: "Unlock it.")
    let error = NSError(cause)
    #expect(error.domain == NSOSStatusErrorDomain)
    #expect(error.code == -25308)
    #expect(error.localizedDescription == "The keyring is locked. Unlock it.")
  }

  @Test func `Cancelling looks the same on every layer`() {
    var network = IdentityError(.network, "Cancelled.")
    network.transportError = .cancelled
    var cache = IdentityError(.cache, "Cancelled.")
    cache.cacheError = CacheError(.cancelled, "Cancelled.")
    for error in [network, cache, IdentityError(.cancelled, "Cancelled.")].map({ NSError($0) }) {
      #expect(error.domain == MSALErrorDomain)
      #expect(error.code == MSALError.userCanceled.rawValue)
    }
  }

  @Test func `Invalid requests are refused`() async throws {
    let application = try MSALPublicClientApplication(clientId: "11111111-2222-4333-8444-555555555555")
    for scopes in [[" "], ["user.read", "OpenID"], ["11111111-2222-4333-8444-555555555555"]] {
      try await expectInvalid(application, MSALDeviceCodeTokenParameters(scopes: scopes) { _ in })
    }
    let pop = MSALDeviceCodeTokenParameters(scopes: ["user.read"]) { _ in }
    pop.authenticationScheme = MSALAuthenticationSchemePop(
      httpMethod: .GET, request: URL(string: "https://graph.microsoft.com")!, nonce: nil,
      additionalParameters: nil)
    try await expectInvalid(application, pop)

    let account = MSALAccount(
      Account(homeAccountID: "uid.utid", username: nil, environment: "", tenantProfiles: []))
    let silent = MSALSilentTokenParameters(scopes: ["user.read"], account: account)
    silent.account = nil
    let error = try await failure { try await application.acquireTokenSilent(with: silent) }
    #expect(error.internalCode == -42106)
  }

  @Test func `A result without a token has no authorization header`() {
    let account = MSALAccount(username: nil, homeAccountId: MSALAccountId(identifier: "uid.utid"))
    #expect(MSALResult(accessToken: "", account: account).authorizationHeader.isEmpty)
    #expect(MSALResult(accessToken: "a", account: account).authorizationHeader == "Bearer a")
  }

  @Test func `A result for an account without tenant profiles is of its home tenant`() {
    let account = MSALAccount(username: nil, homeAccountId: MSALAccountId(identifier: "uid.utid"))
    let profile = MSALResult(accessToken: "a", account: account).tenantProfile
    #expect(profile.tenantId == "utid" && profile.isHomeTenantProfile)
  }

  @Test func `Invalid configurations are refused`() {
    let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
    config.cacheConfig.keychainSharingGroup = "no group"
    #expect(internalCode { try MSALPublicClientApplication(configuration: config) } == -42000)
    #expect(internalCode { try MSALPublicClientApplication(clientId: " ") } == -42000)
    config.cacheConfig.keychainSharingGroup = "org.example.group"
    for blank in ["", " "] {
      config.redirectUri = blank
      #expect(internalCode { try MSALPublicClientApplication(configuration: config) } == nil)
    }
    config.redirectUri = "nowhere"
    #expect(internalCode { try MSALPublicClientApplication(configuration: config) } == -42011)
    for address in ["http://login.microsoftonline.com/common", "https://login.microsoftonline.com"] {
      #expect(internalCode { try MSALAADAuthority(url: URL(string: address)!) } == -42000)
    }
    let custom = URL(string: "https://login.example.com/tenant")!
    #expect(internalCode { try MSALCIAMAuthority(url: custom, validateFormat: true) } == -42000)
    #expect(internalCode { try MSALB2CAuthority(url: URL(string: "https://x.b2clogin.com/x")!) } == -42000)
    #expect(internalCode { try MSALB2CAuthority(url: URL(string: "https://example.com")!) } == -42000)
  }

  @Test(
    arguments: [
      "https://login.microsoftonline.com/tenant", "https://example.com/tenant/policy",
      "https://gateway.example.com/auth/tfp/contoso.onmicrosoft.com/B2C_1_SignIn",
    ]) func `An address of B2C may have any form`(_ address: String) throws
  {
    #expect(try MSALB2CAuthority(url: URL(string: address)!).url.absoluteString == address)
  }

  @Test func `A custom domain of External ID needs no flag`() throws {
    let address = "https://login.example.com/tenant"
    #expect(try MSALCIAMAuthority(url: URL(string: address)!).url.absoluteString == address)
  }

  private func internalCode<T>(_ work: () throws -> T) -> Int? {
    do {
      _ = try work()
      return nil
    } catch let error as NSError {
      return error.domain == MSALErrorDomain ? error.internalCode : nil
    }
  }

  private func expectInvalid(
    _ application: MSALPublicClientApplication, _ parameters: MSALDeviceCodeTokenParameters
  ) async throws {
    let error = try await failure { try await application.acquireToken(with: parameters) }
    #expect(error.code == MSALError.internal.rawValue)
    #expect(error.internalCode == -42000)
  }

  /// Throws an error and catches it as programs for iOS and macOS do. A Swift struct would not be caught.
  private func caught(_ error: any Error) -> NSError? {
    do {
      throw error
    } catch let error as NSError {
      return error
    }
  }
}
