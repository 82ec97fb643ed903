/// The specific codes under ``MSALInternalErrorCodeKey``: for logs and bug reports.
///
/// Their meaning may change: programs should check ``MSALError``.
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
  /// Used on Apple's systems only.
  case internalErrorAttemptToOpenURLFromExtension = -42404
  /// Used on Apple's systems only.
  case internalErrorUINotSupportedInExtension = -42405
  /// The response at the redirect URI belongs to another request.
  case internalErrorInvalidState = -42501
  /// The server's response is invalid.
  case internalErrorInvalidResponse = -42600
  /// The sign-in was redirected to a page without https.
  case internalErrorNonHttpsRedirect = -42602
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseNotReceived = -42700
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerNoResumeStateFound = -42701
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerBadResumeStateFound = -42702
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerMismatchedResumeState = -42703
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseHashMissing = -42704
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerCorruptedResponse = -42705
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseDecryptionFailed = -42706
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseHashMismatch = -42707
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerKeyFailedToCreate = -42708
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerKeyNotFound = -42709
  /// The identity broker gave no response or an invalid one.
  case internalErrorBrokerUnknown = -42711
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerApplicationTokenWriteFailed = -42712
  /// Used by Microsoft's broker for Apple's systems only.
  case internalErrorBrokerApplicationTokenReadFailed = -42713
  /// The identity broker is required, but is not available or may not be used.
  case internalBrokerNotAvailable = -42714
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITLinkServerConfirmationError = -42715
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITLinkAcquireTokenError = -42716
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITLinkTokenAcquiredWrongTenant = -42717
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITLinkError = -42718
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITComplianceCheckResultNotCompliant = -42719
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITComplianceCheckResultTimeout = -42720
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITComplianceCheckResultUnknown = -42721
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITComplianceCheckInvalidLinkPayload = -42722
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITComplianceCheckCreateController = -42723
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITLinkConfigNotFound = -42724
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITInvalidLinkTokenConfig = -42725
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITWPJDeviceRegistrationFailed = -42726
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITWPJAccountIdentifierNil = -42727
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITWPJAcquireTokenError = -42728
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITRetryRequired = -42729
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITUnknownStatusWebCP = -42730
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingCreateController = -42731
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingAcquireToken = -42732
  /// Used for device registration and compliance on Apple's systems only.
  case internalErrorJITLinkServerConfirmationTimeout = -42733
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingRequired = -42734
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingResultUnknown = -42735
  /// Used for device registration and compliance on Apple's systems only.
  case errorDeviceNotPSSORegistered = -42736
  /// Used for device registration and compliance on Apple's systems only.
  case errorPSSOKeyIdMismatch = -42737
  /// Used for device registration and compliance on Apple's systems only.
  case errorJITErrorHandlingConfigNotFound = -42738
  /// Used for device registration and compliance on Apple's systems only.
  case errorPSSOBiometricPolicyMismatch = -42739
  /// Used on Apple's systems only.
  case errorPSSOInvalidPasskeyExtension = -42740
  /// Used for device registration and compliance on Apple's systems only.
  case errorPSSOSaveLoginConfigFailure = -42741
  /// Used for device registration and compliance on Apple's systems only.
  case errorPSSOPasskeyLAError = -42742
  /// Used for device registration and compliance on Apple's systems only.
  case errorPSSOBiometricsNotAvailable = -42743
  /// Used for device registration and compliance on Apple's systems only.
  case errorPSSOBiometricsNotEnrolled = -42744
  /// Used on Apple's systems only.
  case internalErrorInvalidASWebAuthenticationURL = -42745
}
