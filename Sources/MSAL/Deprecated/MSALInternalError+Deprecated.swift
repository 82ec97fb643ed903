/// The names of MSAL before 1.1, for which Swift left the beginning out that all of them had.
extension MSALInternalError {
  /// ``internalErrorInvalidParameter``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidParameter")
  public static var invalidParameter: MSALInternalError { .internalErrorInvalidParameter }
  /// ``internalErrorRedirectSchemeNotRegistered``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorRedirectSchemeNotRegistered")
  public static var redirectSchemeNotRegistered: MSALInternalError {
    .internalErrorRedirectSchemeNotRegistered
  }
  /// ``internalErrorInvalidRequest``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidRequest")
  public static var invalidRequest: MSALInternalError { .internalErrorInvalidRequest }
  /// ``internalErrorInvalidClient``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidClient")
  public static var invalidClient: MSALInternalError { .internalErrorInvalidClient }
  /// ``internalErrorInvalidGrant``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidGrant")
  public static var invalidGrant: MSALInternalError { .internalErrorInvalidGrant }
  /// ``internalErrorInvalidScope``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidScope")
  public static var invalidScope: MSALInternalError { .internalErrorInvalidScope }
  /// ``internalErrorUnauthorizedClient``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUnauthorizedClient")
  public static var unauthorizedClient: MSALInternalError { .internalErrorUnauthorizedClient }
  /// ``internalErrorUnhandledResponse``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUnhandledResponse")
  public static var unhandledResponse: MSALInternalError { .internalErrorUnhandledResponse }
  /// ``internalErrorUnexpected``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUnexpected")
  public static var unexpected: MSALInternalError { .internalErrorUnexpected }
  /// ``internalErrorFailedAuthorityValidation``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorFailedAuthorityValidation")
  public static var failedAuthorityValidation: MSALInternalError { .internalErrorFailedAuthorityValidation }
  /// ``internalErrorMismatchedUser``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorMismatchedUser")
  public static var mismatchedUser: MSALInternalError { .internalErrorMismatchedUser }
  /// ``internalErrorAmbiguousAccount``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAmbiguousAccount")
  public static var ambiguousAccount: MSALInternalError { .internalErrorAmbiguousAccount }
  /// ``internalErrorAuthorizationFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAuthorizationFailed")
  public static var authorizationFailed: MSALInternalError { .internalErrorAuthorizationFailed }
  /// ``internalErrorAccountRequired``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAccountRequired")
  public static var accountRequired: MSALInternalError { .internalErrorAccountRequired }
  /// ``internalErrorSessionCanceled``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorSessionCanceled")
  public static var sessionCanceled: MSALInternalError { .internalErrorSessionCanceled }
  /// ``internalErrorInteractiveSessionAlreadyRunning``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInteractiveSessionAlreadyRunning")
  public static var interactiveSessionAlreadyRunning: MSALInternalError {
    .internalErrorInteractiveSessionAlreadyRunning
  }
  /// ``internalErrorNoViewController``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorNoViewController")
  public static var noViewController: MSALInternalError { .internalErrorNoViewController }
  /// ``internalErrorAttemptToOpenURLFromExtension``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAttemptToOpenURLFromExtension")
  public static var attemptToOpenURLFromExtension: MSALInternalError {
    .internalErrorAttemptToOpenURLFromExtension
  }
  /// ``internalErrorUINotSupportedInExtension``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUINotSupportedInExtension")
  public static var uiNotSupportedInExtension: MSALInternalError { .internalErrorUINotSupportedInExtension }
  /// ``internalErrorInvalidState``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidState")
  public static var invalidState: MSALInternalError { .internalErrorInvalidState }
  /// ``internalErrorInvalidResponse``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidResponse")
  public static var invalidResponse: MSALInternalError { .internalErrorInvalidResponse }
  /// ``internalErrorNonHttpsRedirect``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorNonHttpsRedirect")
  public static var nonHttpsRedirect: MSALInternalError { .internalErrorNonHttpsRedirect }
  /// ``internalErrorBrokerResponseNotReceived``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseNotReceived")
  public static var brokerResponseNotReceived: MSALInternalError { .internalErrorBrokerResponseNotReceived }
  /// ``internalErrorBrokerNoResumeStateFound``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerNoResumeStateFound")
  public static var brokerNoResumeStateFound: MSALInternalError { .internalErrorBrokerNoResumeStateFound }
  /// ``internalErrorBrokerBadResumeStateFound``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerBadResumeStateFound")
  public static var brokerBadResumeStateFound: MSALInternalError { .internalErrorBrokerBadResumeStateFound }
  /// ``internalErrorBrokerMismatchedResumeState``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerMismatchedResumeState")
  public static var brokerMismatchedResumeState: MSALInternalError {
    .internalErrorBrokerMismatchedResumeState
  }
  /// ``internalErrorBrokerResponseHashMissing``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseHashMissing")
  public static var brokerResponseHashMissing: MSALInternalError { .internalErrorBrokerResponseHashMissing }
  /// ``internalErrorBrokerCorruptedResponse``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerCorruptedResponse")
  public static var brokerCorruptedResponse: MSALInternalError { .internalErrorBrokerCorruptedResponse }
  /// ``internalErrorBrokerResponseDecryptionFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseDecryptionFailed")
  public static var brokerResponseDecryptionFailed: MSALInternalError {
    .internalErrorBrokerResponseDecryptionFailed
  }
  /// ``internalErrorBrokerResponseHashMismatch``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseHashMismatch")
  public static var brokerResponseHashMismatch: MSALInternalError { .internalErrorBrokerResponseHashMismatch }
  /// ``internalErrorBrokerKeyFailedToCreate``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerKeyFailedToCreate")
  public static var brokerKeyFailedToCreate: MSALInternalError { .internalErrorBrokerKeyFailedToCreate }
  /// ``internalErrorBrokerKeyNotFound``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerKeyNotFound")
  public static var brokerKeyNotFound: MSALInternalError { .internalErrorBrokerKeyNotFound }
  /// ``internalErrorBrokerUnknown``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerUnknown")
  public static var brokerUnknown: MSALInternalError { .internalErrorBrokerUnknown }
  /// ``internalErrorBrokerApplicationTokenWriteFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerApplicationTokenWriteFailed")
  public static var brokerApplicationTokenWriteFailed: MSALInternalError {
    .internalErrorBrokerApplicationTokenWriteFailed
  }
  /// ``internalErrorBrokerApplicationTokenReadFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerApplicationTokenReadFailed")
  public static var brokerApplicationTokenReadFailed: MSALInternalError {
    .internalErrorBrokerApplicationTokenReadFailed
  }
}
