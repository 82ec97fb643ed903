import MSAL
import Testing

/// Raw values are part of the API: programs store them, log them and compare them with the codes of errors.
struct RawValueTests {
  @Test func `Enumerations have Apple's raw values`() {
    check([
      MSALAudienceType.azureADAndPersonalMicrosoftAccountAudience: 0,
      .azureADMultipleOrgsAudience: 1,
      .azureADMyOrgOnlyAudience: 2,
      .personalMicrosoftAccountAudience: 3,
    ])
    check([
      MSALAzureCloudInstance.publicCloudInstance: 0,
      .chinaCloudInstance: 1,
      .germanyCloudInstance: 2,
      .usGovernmentCloudInstance: 3,
      .franceCloudInstance: 4,
      .delosCloudInstance: 5,
      .govSGCloudInstance: 6,
    ])
    check([MSALClaimsRequestTarget.idToken: 0, MSALClaimsRequestTarget.accessToken: 1])
    check([MSALLogLevel.nothing: 0, .error: 1, .warning: 2, .info: 3, .verbose: 4])
    check([MSALWebviewType.default: 0, .authenticationSession: 1, .safariViewController: 2, .wkWebView: 3])
    check([MSALBrokeredAvailability.auto: 0, MSALBrokeredAvailability.none: 1])
    check([MSALPromptType.selectAccount: 0, .login: 1, .consent: 2, .create: 3, .promptIfNecessary: 4])
    check([MSALDeviceMode.default: 0, MSALDeviceMode.shared: 1])
    check([
      MSALPlatformSSOStatus.notEnabled: 0,
      .enabledNotRegistered: 1,
      .enabledAndRegistered: 2,
      .registrationNeedsRepair: 3,
    ])
    check([MSALPreferredAuthMethod.none: 0, MSALPreferredAuthMethod.QRPIN: 1])
    check([MSALXpcMode.disabled: 0, .ssoExtCompanion: 1, .ssoExtBackup: 2, .primary: 3])
    check([MSALAuthScheme.bearer: 0, MSALAuthScheme.pop: 1])
    check([
      MSALHttpMethod.GET: 0,
      .HEAD: 1,
      .POST: 2,
      .PUT: 3,
      .DELETE: 4,
      .CONNECT: 5,
      .OPTIONS: 6,
      .TRACE: 7,
      .PATCH: 8,
    ])
    check([MSALLogMaskingLevel.settingsMaskAllPII: 0, .settingsMaskEUIIOnly: 1, .settingsMaskSecretsOnly: 2])
    check([MSALLegacySharedAccountMode.readOnly: 0, MSALLegacySharedAccountMode.readWrite: 1])
  }

  @Test func `MSALError constants equal Apple's`() {
    check([
      MSALError.internal: -50000,
      .workplaceJoinRequired: -50001,
      .interactionRequired: -50002,
      .serverDeclinedScopes: -50003,
      .serverProtectionPoliciesRequired: -50004,
      .userCanceled: -50005,
      .serverError: -50006,
      .insufficientDeviceStrength: -50007,
      .mdmEnrollmentCompletedNeedsRetry: -50008,
      .serverInvalidRequestResetPasswordRequired: -50142,
    ])
  }

  @Test func `MSALInternalError has Apple's raw values`() {
    check([
      MSALInternalError.internalErrorInvalidParameter: -42000,
      .internalErrorRedirectSchemeNotRegistered: -42001,
      .internalErrorInvalidRedirectURI: -42011,
      .internalErrorInvalidRequest: -42002,
      .internalErrorInvalidClient: -42003,
      .internalErrorInvalidGrant: -42004,
      .internalErrorInvalidScope: -42005,
      .internalErrorUnauthorizedClient: -42006,
      .internalErrorUnhandledResponse: -42007,
      .internalErrorUnexpected: -42008,
      .internalErrorUnexpectedHttpResponse: -42009,
      .internalErrorFailedAuthorityValidation: -42010,
      .internalErrorMismatchedUser: -42101,
      .internalErrorAmbiguousAccount: -42102,
      .internalErrorAuthorizationFailed: -42104,
      .internalErrorAccountRequired: -42106,
      .internalErrorSessionCanceled: -42401,
      .internalErrorInteractiveSessionAlreadyRunning: -42402,
      .internalErrorNoViewController: -42403,
      .internalErrorAttemptToOpenURLFromExtension: -42404,
      .internalErrorUINotSupportedInExtension: -42405,
      .internalErrorInvalidState: -42501,
      .internalErrorInvalidResponse: -42600,
      .internalErrorNonHttpsRedirect: -42602,
      .internalErrorBrokerResponseNotReceived: -42700,
      .internalErrorBrokerNoResumeStateFound: -42701,
      .internalErrorBrokerBadResumeStateFound: -42702,
      .internalErrorBrokerMismatchedResumeState: -42703,
      .internalErrorBrokerResponseHashMissing: -42704,
      .internalErrorBrokerCorruptedResponse: -42705,
      .internalErrorBrokerResponseDecryptionFailed: -42706,
      .internalErrorBrokerResponseHashMismatch: -42707,
      .internalErrorBrokerKeyFailedToCreate: -42708,
      .internalErrorBrokerKeyNotFound: -42709,
      .internalErrorBrokerUnknown: -42711,
      .internalErrorBrokerApplicationTokenWriteFailed: -42712,
      .internalErrorBrokerApplicationTokenReadFailed: -42713,
      .internalBrokerNotAvailable: -42714,
      .internalErrorJITLinkServerConfirmationError: -42715,
      .internalErrorJITLinkAcquireTokenError: -42716,
      .internalErrorJITLinkTokenAcquiredWrongTenant: -42717,
      .internalErrorJITLinkError: -42718,
      .internalErrorJITComplianceCheckResultNotCompliant: -42719,
      .internalErrorJITComplianceCheckResultTimeout: -42720,
      .internalErrorJITComplianceCheckResultUnknown: -42721,
      .errorJITComplianceCheckInvalidLinkPayload: -42722,
      .errorJITComplianceCheckCreateController: -42723,
      .errorJITLinkConfigNotFound: -42724,
      .errorJITInvalidLinkTokenConfig: -42725,
      .errorJITWPJDeviceRegistrationFailed: -42726,
      .errorJITWPJAccountIdentifierNil: -42727,
      .errorJITWPJAcquireTokenError: -42728,
      .errorJITRetryRequired: -42729,
      .errorJITUnknownStatusWebCP: -42730,
      .errorJITTroubleshootingCreateController: -42731,
      .errorJITTroubleshootingAcquireToken: -42732,
      .internalErrorJITLinkServerConfirmationTimeout: -42733,
      .errorJITTroubleshootingRequired: -42734,
      .errorJITTroubleshootingResultUnknown: -42735,
      .errorDeviceNotPSSORegistered: -42736,
      .errorPSSOKeyIdMismatch: -42737,
      .errorJITErrorHandlingConfigNotFound: -42738,
      .errorPSSOBiometricPolicyMismatch: -42739,
      .errorPSSOInvalidPasskeyExtension: -42740,
      .errorPSSOSaveLoginConfigFailure: -42741,
      .errorPSSOPasskeyLAError: -42742,
      .errorPSSOBiometricsNotAvailable: -42743,
      .errorPSSOBiometricsNotEnrolled: -42744,
      .internalErrorInvalidASWebAuthenticationURL: -42745,
    ])
  }

  @Test func `Names of values are Apple's`() {
    #expect(MSALPromptType.default == .promptIfNecessary)
    #expect(MSALLogLevel.last == .verbose)
  }

  private func check<Value: RawRepresentable & Hashable>(_ values: [Value: Value.RawValue])
  where Value.RawValue: BinaryInteger {
    for (value, rawValue) in values {
      #expect(value.rawValue == rawValue)
      #expect(Value(rawValue: rawValue) == value)
    }
  }
}
