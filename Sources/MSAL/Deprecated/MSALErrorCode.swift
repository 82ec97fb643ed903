/// The error codes of MSAL before 0.4.
///
/// Codes that programs branch on have the values that errors carry today, not those of then, so that such
/// branches still work. The others are found under ``MSALInternalErrorCodeKey``.
@available(*, deprecated, message: "Use MSALError.")
public enum MSALErrorCode: Int, Sendable {
  case `internal` = -50000
  case workplaceJoinRequired = -50001
  case interactionRequired = -50002
  case serverDeclinedScopes = -50003
  case serverProtectionPoliciesRequired = -50004
  case userCanceled = -50005
  case invalidParameter = -42000
  case redirectSchemeNotRegistered = -42001
  case invalidRequest = -42002
  case invalidClient = -42003
  case invalidGrant = -42004
  case invalidScope = -42005
  case unauthorizedClient = -42006
  case unhandledResponse = -42007
  case failedAuthorityValidation = -42010
  case mismatchedUser = -42101
  case noAuthorizationResponse = -42102
  case badAuthorizationResponse = -42103
  case authorizationFailed = -42104
  case accountRequired = -42106
  case sessionCanceled = -42401
  case interactiveSessionAlreadyRunning = -42402
  case noViewController = -42403
  case attemptToOpenURLFromExtension = -42404
  case uiNotSupportedInExtension = -42405
  case invalidState = -42501
  case invalidResponse = -42600
  case nonHttpsRedirect = -42602
}
