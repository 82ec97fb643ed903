public import Foundation
import TokenCache

/// The error codes of MSAL before 0.4.
///
/// Codes that programs branch on have the values of today's errors, so that such branches still work. The others are found under ``MSALInternalErrorCodeKey``.
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

/// The names of MSAL before 1.1, which Swift shortened by their common prefix.
extension MSALInternalError {
  /// ``internalErrorInvalidParameter``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidParameter")
  public static var invalidParameter: Self { .internalErrorInvalidParameter }
  /// ``internalErrorRedirectSchemeNotRegistered``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorRedirectSchemeNotRegistered")
  public static var redirectSchemeNotRegistered: Self { .internalErrorRedirectSchemeNotRegistered }
  /// ``internalErrorInvalidRequest``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidRequest")
  public static var invalidRequest: Self { .internalErrorInvalidRequest }
  /// ``internalErrorInvalidClient``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidClient")
  public static var invalidClient: Self { .internalErrorInvalidClient }
  /// ``internalErrorInvalidGrant``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidGrant")
  public static var invalidGrant: Self { .internalErrorInvalidGrant }
  /// ``internalErrorInvalidScope``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidScope")
  public static var invalidScope: Self { .internalErrorInvalidScope }
  /// ``internalErrorUnauthorizedClient``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUnauthorizedClient")
  public static var unauthorizedClient: Self { .internalErrorUnauthorizedClient }
  /// ``internalErrorUnhandledResponse``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUnhandledResponse")
  public static var unhandledResponse: Self { .internalErrorUnhandledResponse }
  /// ``internalErrorUnexpected``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUnexpected")
  public static var unexpected: Self { .internalErrorUnexpected }
  /// ``internalErrorFailedAuthorityValidation``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorFailedAuthorityValidation")
  public static var failedAuthorityValidation: Self { .internalErrorFailedAuthorityValidation }
  /// ``internalErrorMismatchedUser``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorMismatchedUser")
  public static var mismatchedUser: Self { .internalErrorMismatchedUser }
  /// ``internalErrorAmbiguousAccount``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAmbiguousAccount")
  public static var ambiguousAccount: Self { .internalErrorAmbiguousAccount }
  /// ``internalErrorAuthorizationFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAuthorizationFailed")
  public static var authorizationFailed: Self { .internalErrorAuthorizationFailed }
  /// ``internalErrorAccountRequired``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAccountRequired")
  public static var accountRequired: Self { .internalErrorAccountRequired }
  /// ``internalErrorSessionCanceled``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorSessionCanceled")
  public static var sessionCanceled: Self { .internalErrorSessionCanceled }
  /// ``internalErrorInteractiveSessionAlreadyRunning``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInteractiveSessionAlreadyRunning")
  public static var interactiveSessionAlreadyRunning: Self { .internalErrorInteractiveSessionAlreadyRunning }
  /// ``internalErrorNoViewController``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorNoViewController")
  public static var noViewController: Self { .internalErrorNoViewController }
  /// ``internalErrorAttemptToOpenURLFromExtension``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorAttemptToOpenURLFromExtension")
  public static var attemptToOpenURLFromExtension: Self { .internalErrorAttemptToOpenURLFromExtension }
  /// ``internalErrorUINotSupportedInExtension``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorUINotSupportedInExtension")
  public static var uiNotSupportedInExtension: Self { .internalErrorUINotSupportedInExtension }
  /// ``internalErrorInvalidState``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidState")
  public static var invalidState: Self { .internalErrorInvalidState }
  /// ``internalErrorInvalidResponse``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorInvalidResponse")
  public static var invalidResponse: Self { .internalErrorInvalidResponse }
  /// ``internalErrorNonHttpsRedirect``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorNonHttpsRedirect")
  public static var nonHttpsRedirect: Self { .internalErrorNonHttpsRedirect }
  /// ``internalErrorBrokerResponseNotReceived``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseNotReceived")
  public static var brokerResponseNotReceived: Self { .internalErrorBrokerResponseNotReceived }
  /// ``internalErrorBrokerNoResumeStateFound``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerNoResumeStateFound")
  public static var brokerNoResumeStateFound: Self { .internalErrorBrokerNoResumeStateFound }
  /// ``internalErrorBrokerBadResumeStateFound``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerBadResumeStateFound")
  public static var brokerBadResumeStateFound: Self { .internalErrorBrokerBadResumeStateFound }
  /// ``internalErrorBrokerMismatchedResumeState``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerMismatchedResumeState")
  public static var brokerMismatchedResumeState: Self { .internalErrorBrokerMismatchedResumeState }
  /// ``internalErrorBrokerResponseHashMissing``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseHashMissing")
  public static var brokerResponseHashMissing: Self { .internalErrorBrokerResponseHashMissing }
  /// ``internalErrorBrokerCorruptedResponse``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerCorruptedResponse")
  public static var brokerCorruptedResponse: Self { .internalErrorBrokerCorruptedResponse }
  /// ``internalErrorBrokerResponseDecryptionFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseDecryptionFailed")
  public static var brokerResponseDecryptionFailed: Self { .internalErrorBrokerResponseDecryptionFailed }
  /// ``internalErrorBrokerResponseHashMismatch``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerResponseHashMismatch")
  public static var brokerResponseHashMismatch: Self { .internalErrorBrokerResponseHashMismatch }
  /// ``internalErrorBrokerKeyFailedToCreate``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerKeyFailedToCreate")
  public static var brokerKeyFailedToCreate: Self { .internalErrorBrokerKeyFailedToCreate }
  /// ``internalErrorBrokerKeyNotFound``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerKeyNotFound")
  public static var brokerKeyNotFound: Self { .internalErrorBrokerKeyNotFound }
  /// ``internalErrorBrokerUnknown``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerUnknown")
  public static var brokerUnknown: Self { .internalErrorBrokerUnknown }
  /// ``internalErrorBrokerApplicationTokenWriteFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerApplicationTokenWriteFailed")
  public static var brokerApplicationTokenWriteFailed: MSALInternalError {
    .internalErrorBrokerApplicationTokenWriteFailed
  }
  /// ``internalErrorBrokerApplicationTokenReadFailed``, as MSAL before 1.1 called it.
  @available(*, deprecated, renamed: "internalErrorBrokerApplicationTokenReadFailed")
  public static var brokerApplicationTokenReadFailed: Self { .internalErrorBrokerApplicationTokenReadFailed }
}

/// The logger, as MSAL before 0.7 called it.
@available(*, deprecated, message: "Use MSALGlobalConfig.loggerConfig.")
public final class MSALLogger: NSObject, Sendable {
  private static let only = MSALLogger()

  /// The only logger.
  public static func shared() -> MSALLogger { only }

  /// Another name of the only logger: all have the same settings.
  override public init() {}

  /// How much is logged.
  public var level: MSALLogLevel {
    get { MSALGlobalConfig.loggerConfig.logLevel }
    set { MSALGlobalConfig.loggerConfig.logLevel = newValue }
  }

  /// Whether the log contains personal data.
  public var piiLoggingEnabled: Bool {
    get { MSALGlobalConfig.loggerConfig.piiEnabled }
    set { MSALGlobalConfig.loggerConfig.piiEnabled = newValue }
  }

  /// Sets the callback for all log messages from now on, as ``MSALLoggerConfig/setLogCallback(_:)`` does.
  @preconcurrency
  public func setCallback(_ callback: @escaping MSALLogCallback) {
    MSALGlobalConfig.loggerConfig.setLogCallback(callback)
  }
}

extension MSALLoggerConfig {
  /// Whether the log contains personal data.
  @available(*, deprecated, message: "Use logMaskingLevel.")
  public var piiEnabled: Bool {
    get { logMaskingLevel != .settingsMaskAllPII }
    set { logMaskingLevel = newValue ? .settingsMaskSecretsOnly : .settingsMaskAllPII }
  }
}

extension MSALResult {
  /// ``account``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "account")
  public var user: MSALAccount { account }
  /// The object id of the account in the tenant that issued the token.
  @available(*, deprecated, message: "Use tenantProfile.identifier.")
  public var uniqueId: String? { tenantProfile.identifier }
  /// The tenant that issued the token.
  @available(*, deprecated, message: "Use tenantProfile.tenantId.")
  public var tenantId: String? { tenantProfile.tenantId }
}

/// The kinds of prompts, as MSAL before 1.0 called it.
@available(*, deprecated, message: "Use MSALPromptType.")
public enum MSALUIBehavior: UInt, Sendable {
  case selectAccount = 0
  case forceLogin = 1
  case forceConsent = 2
  case promptIfNecessary = 3

  /// ``selectAccount``, the default then.
  public static var `default`: MSALUIBehavior { .selectAccount }

  var promptType: MSALPromptType {
    switch self {
    case .selectAccount: .selectAccount
    case .forceLogin: .login
    case .forceConsent: .consent
    case .promptIfNecessary: .promptIfNecessary
    }
  }
}

/// An account, as MSAL before 0.1.4 called it.
@available(*, deprecated, renamed: "MSALAccount")
public typealias MSALUser = MSALAccount

extension MSALAccount {
  /// ``username``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "username")
  public var displayableId: String? { username }
  /// The user's name in the home tenant.
  @available(*, deprecated, message: "Use accountClaims?[\"name\"].")
  public var name: String? { account.tenantProfiles.first(where: \.isHomeTenant)?.name }
  /// The object id of the account in its home tenant.
  @available(*, deprecated, message: "Use homeAccountId?.objectId.")
  public var uid: String? { homeAccountId?.objectId }
  /// The home tenant.
  @available(*, deprecated, message: "Use homeAccountId?.tenantId.")
  public var utid: String? { homeAccountId?.tenantId }
  /// ``identifier``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "identifier")
  public func userIdentifier() -> String! { identifier }
}

extension MSALWebviewParameters {
  /// ``init(authPresentationViewController:)``, as MSAL 1 called it.
  @available(*, deprecated, renamed: "init(authPresentationViewController:)")
  public convenience init(parentViewController: AnyObject?) {
    self.init(authPresentationViewController: parentViewController)
  }
}
