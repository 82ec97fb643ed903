/// The specific codes under ``MSALInternalErrorCodeKey``: for logs and bug reports.
///
/// Their meaning may change: programs should check ``MSALError``. The cases without a description are used on Apple's systems
/// only, such as by Microsoft's broker, for device registration and compliance, and in extensions of applications.
public enum MSALInternalError: Int, Sendable {
  /// The program passed an invalid parameter.
  case internalErrorInvalidParameter = -42000
  /// No handler is registered for the redirect URI's scheme.
  case internalErrorRedirectSchemeNotRegistered = -42001
  /// The redirect URI is invalid.
  case internalErrorInvalidRedirectURI = -42011
  /// The server: the request is incomplete or contradictory.
  case internalErrorInvalidRequest = -42002
  /// The server: the client is not known, or must authenticate.
  case internalErrorInvalidClient = -42003
  /// The server: the code or the refresh token is invalid or expired.
  case internalErrorInvalidGrant = -42004
  /// The server: a scope is not known or malformed.
  case internalErrorInvalidScope = -42005
  /// The server: the client may not do this.
  case internalErrorUnauthorizedClient = -42006
  /// The server responded with an unexpected status.
  case internalErrorUnhandledResponse = -42007
  /// An error without a specific code.
  case internalErrorUnexpected = -42008
  /// The server refused with a status that OAuth does not use.
  case internalErrorUnexpectedHttpResponse = -42009
  /// The authority is trusted neither by Microsoft nor by the program.
  case internalErrorFailedAuthorityValidation = -42010
  /// Another user than the requested one signed in.
  case internalErrorMismatchedUser = -42101
  /// There are several accounts where only one was expected.
  case internalErrorAmbiguousAccount = -42102
  /// The server refused for a reason without a specific code; see ``MSALOAuthErrorKey``.
  case internalErrorAuthorizationFailed = -42104
  /// An account is needed and was not given, or is not in the cache.
  case internalErrorAccountRequired = -42106
  /// The sign-in was not finished in time.
  case internalErrorSessionCanceled = -42401
  /// A sign-in is under way already.
  case internalErrorInteractiveSessionAlreadyRunning = -42402
  /// No browser can show the sign-in.
  case internalErrorNoViewController = -42403
  case internalErrorAttemptToOpenURLFromExtension = -42404
  case internalErrorUINotSupportedInExtension = -42405
  /// The response at the redirect URI belongs to another request.
  case internalErrorInvalidState = -42501
  /// The server's response is invalid.
  case internalErrorInvalidResponse = -42600
  /// The sign-in was redirected to a page without https.
  case internalErrorNonHttpsRedirect = -42602
  case internalErrorBrokerResponseNotReceived = -42700
  case internalErrorBrokerNoResumeStateFound = -42701
  case internalErrorBrokerBadResumeStateFound = -42702
  case internalErrorBrokerMismatchedResumeState = -42703
  case internalErrorBrokerResponseHashMissing = -42704
  case internalErrorBrokerCorruptedResponse = -42705
  case internalErrorBrokerResponseDecryptionFailed = -42706
  case internalErrorBrokerResponseHashMismatch = -42707
  case internalErrorBrokerKeyFailedToCreate = -42708
  case internalErrorBrokerKeyNotFound = -42709
  /// The identity broker gave no response or an invalid one.
  case internalErrorBrokerUnknown = -42711
  case internalErrorBrokerApplicationTokenWriteFailed = -42712
  case internalErrorBrokerApplicationTokenReadFailed = -42713
  /// The identity broker is required, but is not available or may not be used.
  case internalBrokerNotAvailable = -42714
  case internalErrorJITLinkServerConfirmationError = -42715
  case internalErrorJITLinkAcquireTokenError = -42716
  case internalErrorJITLinkTokenAcquiredWrongTenant = -42717
  case internalErrorJITLinkError = -42718
  case internalErrorJITComplianceCheckResultNotCompliant = -42719
  case internalErrorJITComplianceCheckResultTimeout = -42720
  case internalErrorJITComplianceCheckResultUnknown = -42721
  case errorJITComplianceCheckInvalidLinkPayload = -42722
  case errorJITComplianceCheckCreateController = -42723
  case errorJITLinkConfigNotFound = -42724
  case errorJITInvalidLinkTokenConfig = -42725
  case errorJITWPJDeviceRegistrationFailed = -42726
  case errorJITWPJAccountIdentifierNil = -42727
  case errorJITWPJAcquireTokenError = -42728
  case errorJITRetryRequired = -42729
  case errorJITUnknownStatusWebCP = -42730
  case errorJITTroubleshootingCreateController = -42731
  case errorJITTroubleshootingAcquireToken = -42732
  case internalErrorJITLinkServerConfirmationTimeout = -42733
  case errorJITTroubleshootingRequired = -42734
  case errorJITTroubleshootingResultUnknown = -42735
  case errorDeviceNotPSSORegistered = -42736
  case errorPSSOKeyIdMismatch = -42737
  case errorJITErrorHandlingConfigNotFound = -42738
  case errorPSSOBiometricPolicyMismatch = -42739
  case errorPSSOInvalidPasskeyExtension = -42740
  case errorPSSOSaveLoginConfigFailure = -42741
  case errorPSSOPasskeyLAError = -42742
  case errorPSSOBiometricsNotAvailable = -42743
  case errorPSSOBiometricsNotEnrolled = -42744
  case internalErrorInvalidASWebAuthenticationURL = -42745
}
