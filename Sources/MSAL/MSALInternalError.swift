/// The specific codes under ``MSALInternalErrorCodeKey``: for logs and bug reports.
///
/// The numbers may change their meaning; programs branch on ``MSALError``.
public enum MSALInternalError: Int, Sendable {
  /// The program passed an invalid parameter.
  case internalErrorInvalidParameter = -42000
  /// Nothing on this machine opens links of the redirect URI's scheme.
  case internalErrorRedirectSchemeNotRegistered = -42001
  /// The redirect URI is of a form that cannot work.
  case internalErrorInvalidRedirectURI = -42011
  /// The server: the request lacks something or contradicts itself.
  case internalErrorInvalidRequest = -42002
  /// The server: the client is not known, or must authenticate.
  case internalErrorInvalidClient = -42003
  /// The server: the code or the refresh token is not good, or not any more.
  case internalErrorInvalidGrant = -42004
  /// The server: a scope is not known or malformed.
  case internalErrorInvalidScope = -42005
  /// The server: the client may not do this.
  case internalErrorUnauthorizedClient = -42006
  /// The server responded with an unexpected status.
  case internalErrorUnhandledResponse = -42007
  /// Anything that has no code of its own.
  case internalErrorUnexpected = -42008
  /// The server refused with a status that is no answer of OAuth.
  case internalErrorUnexpectedHttpResponse = -42009
  /// The authority is trusted neither by Microsoft nor by the program.
  case internalErrorFailedAuthorityValidation = -42010
  /// Another person signed in than the one that was asked for.
  case internalErrorMismatchedUser = -42101
  /// There are several accounts where only one was expected.
  case internalErrorAmbiguousAccount = -42102
  /// The server refused for a reason without a code of its own; see ``MSALOAuthErrorKey``.
  case internalErrorAuthorizationFailed = -42104
  /// An account is needed and was not given, or is not in the cache.
  case internalErrorAccountRequired = -42106
  /// The sign-in ended without a response: it was not finished in time.
  case internalErrorSessionCanceled = -42401
  /// A sign-in is under way already.
  case internalErrorInteractiveSessionAlreadyRunning = -42402
  /// There is nothing to show the sign-in with.
  case internalErrorNoViewController = -42403
  /// Of Apple's systems only.
  case internalErrorAttemptToOpenURLFromExtension = -42404
  /// Of Apple's systems only.
  case internalErrorUINotSupportedInExtension = -42405
  /// The answer that arrived at the redirect URI is not the answer to this request.
  case internalErrorInvalidState = -42501
  /// The server's response is invalid.
  case internalErrorInvalidResponse = -42600
  /// The sign-in was led to a page without https.
  case internalErrorNonHttpsRedirect = -42602
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseNotReceived = -42700
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerNoResumeStateFound = -42701
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerBadResumeStateFound = -42702
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerMismatchedResumeState = -42703
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseHashMissing = -42704
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerCorruptedResponse = -42705
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseDecryptionFailed = -42706
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerResponseHashMismatch = -42707
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerKeyFailedToCreate = -42708
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerKeyNotFound = -42709
  /// The identity broker gave no answer, or none that makes sense.
  case internalErrorBrokerUnknown = -42711
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerApplicationTokenWriteFailed = -42712
  /// Of Microsoft's broker for Apple's systems only.
  case internalErrorBrokerApplicationTokenReadFailed = -42713
  /// The identity broker is needed, and is not there or may not be used.
  case internalBrokerNotAvailable = -42714
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITLinkServerConfirmationError = -42715
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITLinkAcquireTokenError = -42716
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITLinkTokenAcquiredWrongTenant = -42717
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITLinkError = -42718
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITComplianceCheckResultNotCompliant = -42719
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITComplianceCheckResultTimeout = -42720
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITComplianceCheckResultUnknown = -42721
  /// Of device registration and compliance on Apple's systems only.
  case errorJITComplianceCheckInvalidLinkPayload = -42722
  /// Of device registration and compliance on Apple's systems only.
  case errorJITComplianceCheckCreateController = -42723
  /// Of device registration and compliance on Apple's systems only.
  case errorJITLinkConfigNotFound = -42724
  /// Of device registration and compliance on Apple's systems only.
  case errorJITInvalidLinkTokenConfig = -42725
  /// Of device registration and compliance on Apple's systems only.
  case errorJITWPJDeviceRegistrationFailed = -42726
  /// Of device registration and compliance on Apple's systems only.
  case errorJITWPJAccountIdentifierNil = -42727
  /// Of device registration and compliance on Apple's systems only.
  case errorJITWPJAcquireTokenError = -42728
  /// Of device registration and compliance on Apple's systems only.
  case errorJITRetryRequired = -42729
  /// Of device registration and compliance on Apple's systems only.
  case errorJITUnknownStatusWebCP = -42730
  /// Of device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingCreateController = -42731
  /// Of device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingAcquireToken = -42732
  /// Of device registration and compliance on Apple's systems only.
  case internalErrorJITLinkServerConfirmationTimeout = -42733
  /// Of device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingRequired = -42734
  /// Of device registration and compliance on Apple's systems only.
  case errorJITTroubleshootingResultUnknown = -42735
  /// Of device registration and compliance on Apple's systems only.
  case errorDeviceNotPSSORegistered = -42736
  /// Of device registration and compliance on Apple's systems only.
  case errorPSSOKeyIdMismatch = -42737
  /// Of device registration and compliance on Apple's systems only.
  case errorJITErrorHandlingConfigNotFound = -42738
  /// Of device registration and compliance on Apple's systems only.
  case errorPSSOBiometricPolicyMismatch = -42739
  /// Of Apple's systems only.
  case errorPSSOInvalidPasskeyExtension = -42740
  /// Of device registration and compliance on Apple's systems only.
  case errorPSSOSaveLoginConfigFailure = -42741
  /// Of device registration and compliance on Apple's systems only.
  case errorPSSOPasskeyLAError = -42742
  /// Of device registration and compliance on Apple's systems only.
  case errorPSSOBiometricsNotAvailable = -42743
  /// Of device registration and compliance on Apple's systems only.
  case errorPSSOBiometricsNotEnrolled = -42744
  /// Of Apple's systems only.
  case internalErrorInvalidASWebAuthenticationURL = -42745
}
