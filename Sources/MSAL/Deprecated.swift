// MSAL 0.1 did not say what may be nil, and Swift then lets a program use all as it is.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

import Foundation
import TokenCache

/// The error codes of MSAL before 0.4.
///
/// Codes that programs branch on have the values of today's errors, so that such branches still work. The others are found
/// under ``MSALInternalErrorCodeKey``, but those of the token cache, which are not reported any more.
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
  case noAccessTokenInResponse = -42105
  case accountRequired = -42106
  case tokenCacheItemFailure = -42200
  case ambiguousAuthority = -42201
  case userNotFound = -42202
  case noAccessTokensFound = -42203
  case wrapperCacheFailure = -42270
  case networkFailure = -42300
  case sessionCanceled = -42401
  case interactiveSessionAlreadyRunning = -42402
  case noViewController = -42403
  case attemptToOpenURLFromExtension = -42404
  case uiNotSupportedInExtension = -42405
  case invalidState = -42501
  case invalidResponse = -42600
  case refreshTokenRejected = -42601
  case nonHttpsRedirect = -42602
  case brokerResponseNotReceived = -42700
  case brokerNoResumeStateFound = -42701
  case brokerBadResumeStateFound = -42702
  case brokerMismatchedResumeState = -42703
  case brokerResponseHashMissing = -42704
  case brokerCorruptedResponse = -42705
  case brokerResponseDecryptionFailed = -42706
  case brokerResponseHashMismatch = -42707
  case brokerKeyFailedToCreate = -42708
  case brokerKeyNotFound = -42709
  case brokerUnknown = -42711

  /// ``authorizationFailed``, as MSAL 0.1.2 called it.
  public static var userRequired: Self { .authorizationFailed }
  /// ``noAccessTokenInResponse``, as MSAL 0.2 called it.
  public static var badTokenResponse: Self { .noAccessTokenInResponse }
}

/// The names of MSAL before 1.1. Swift leaves out the prefix that all have in common, which became shorter with 1.1 and with
/// 1.2.9.
@available(*, deprecated, message: "The names begin with internalError now.")
extension MSALInternalError {
  public static var invalidParameter: Self { .internalErrorInvalidParameter }
  public static var redirectSchemeNotRegistered: Self { .internalErrorRedirectSchemeNotRegistered }
  public static var invalidRequest: Self { .internalErrorInvalidRequest }
  public static var invalidClient: Self { .internalErrorInvalidClient }
  public static var invalidGrant: Self { .internalErrorInvalidGrant }
  public static var invalidScope: Self { .internalErrorInvalidScope }
  public static var unauthorizedClient: Self { .internalErrorUnauthorizedClient }
  public static var unhandledResponse: Self { .internalErrorUnhandledResponse }
  public static var unexpected: Self { .internalErrorUnexpected }
  public static var failedAuthorityValidation: Self { .internalErrorFailedAuthorityValidation }
  public static var mismatchedUser: Self { .internalErrorMismatchedUser }
  public static var ambiguousAccount: Self { .internalErrorAmbiguousAccount }
  public static var authorizationFailed: Self { .internalErrorAuthorizationFailed }
  public static var accountRequired: Self { .internalErrorAccountRequired }
  public static var sessionCanceled: Self { .internalErrorSessionCanceled }
  public static var interactiveSessionAlreadyRunning: Self { .internalErrorInteractiveSessionAlreadyRunning }
  public static var noViewController: Self { .internalErrorNoViewController }
  public static var attemptToOpenURLFromExtension: Self { .internalErrorAttemptToOpenURLFromExtension }
  public static var uiNotSupportedInExtension: Self { .internalErrorUINotSupportedInExtension }
  public static var invalidState: Self { .internalErrorInvalidState }
  public static var invalidResponse: Self { .internalErrorInvalidResponse }
  public static var nonHttpsRedirect: Self { .internalErrorNonHttpsRedirect }
  public static var brokerResponseNotReceived: Self { .internalErrorBrokerResponseNotReceived }
  public static var brokerNoResumeStateFound: Self { .internalErrorBrokerNoResumeStateFound }
  public static var brokerBadResumeStateFound: Self { .internalErrorBrokerBadResumeStateFound }
  public static var brokerMismatchedResumeState: Self { .internalErrorBrokerMismatchedResumeState }
  public static var brokerResponseHashMissing: Self { .internalErrorBrokerResponseHashMissing }
  public static var brokerCorruptedResponse: Self { .internalErrorBrokerCorruptedResponse }
  public static var brokerResponseDecryptionFailed: Self { .internalErrorBrokerResponseDecryptionFailed }
  public static var brokerResponseHashMismatch: Self { .internalErrorBrokerResponseHashMismatch }
  public static var brokerKeyFailedToCreate: Self { .internalErrorBrokerKeyFailedToCreate }
  public static var brokerKeyNotFound: Self { .internalErrorBrokerKeyNotFound }
  public static var brokerUnknown: Self { .internalErrorBrokerUnknown }
  public static var brokerApplicationTokenWriteFailed: Self {
    .internalErrorBrokerApplicationTokenWriteFailed
  }
  public static var brokerApplicationTokenReadFailed: Self { .internalErrorBrokerApplicationTokenReadFailed }
}

/// The names of MSAL 1.1 to 1.2.8.
@available(*, deprecated, message: "The names begin with internalError now, but internalBrokerNotAvailable.")
extension MSALInternalError {
  public static var errorInvalidParameter: Self { .internalErrorInvalidParameter }
  public static var errorRedirectSchemeNotRegistered: Self { .internalErrorRedirectSchemeNotRegistered }
  public static var errorInvalidRequest: Self { .internalErrorInvalidRequest }
  public static var errorInvalidClient: Self { .internalErrorInvalidClient }
  public static var errorInvalidGrant: Self { .internalErrorInvalidGrant }
  public static var errorInvalidScope: Self { .internalErrorInvalidScope }
  public static var errorUnauthorizedClient: Self { .internalErrorUnauthorizedClient }
  public static var errorUnhandledResponse: Self { .internalErrorUnhandledResponse }
  public static var errorUnexpected: Self { .internalErrorUnexpected }
  public static var errorFailedAuthorityValidation: Self { .internalErrorFailedAuthorityValidation }
  public static var errorMismatchedUser: Self { .internalErrorMismatchedUser }
  public static var errorAmbiguousAccount: Self { .internalErrorAmbiguousAccount }
  public static var errorAuthorizationFailed: Self { .internalErrorAuthorizationFailed }
  public static var errorAccountRequired: Self { .internalErrorAccountRequired }
  public static var errorSessionCanceled: Self { .internalErrorSessionCanceled }
  public static var errorInteractiveSessionAlreadyRunning: Self {
    .internalErrorInteractiveSessionAlreadyRunning
  }
  public static var errorNoViewController: Self { .internalErrorNoViewController }
  public static var errorAttemptToOpenURLFromExtension: Self { .internalErrorAttemptToOpenURLFromExtension }
  public static var errorUINotSupportedInExtension: Self { .internalErrorUINotSupportedInExtension }
  public static var errorInvalidState: Self { .internalErrorInvalidState }
  public static var errorInvalidResponse: Self { .internalErrorInvalidResponse }
  public static var errorNonHttpsRedirect: Self { .internalErrorNonHttpsRedirect }
  public static var errorBrokerResponseNotReceived: Self { .internalErrorBrokerResponseNotReceived }
  public static var errorBrokerNoResumeStateFound: Self { .internalErrorBrokerNoResumeStateFound }
  public static var errorBrokerBadResumeStateFound: Self { .internalErrorBrokerBadResumeStateFound }
  public static var errorBrokerMismatchedResumeState: Self { .internalErrorBrokerMismatchedResumeState }
  public static var errorBrokerResponseHashMissing: Self { .internalErrorBrokerResponseHashMissing }
  public static var errorBrokerCorruptedResponse: Self { .internalErrorBrokerCorruptedResponse }
  public static var errorBrokerResponseDecryptionFailed: Self { .internalErrorBrokerResponseDecryptionFailed }
  public static var errorBrokerResponseHashMismatch: Self { .internalErrorBrokerResponseHashMismatch }
  public static var errorBrokerKeyFailedToCreate: Self { .internalErrorBrokerKeyFailedToCreate }
  public static var errorBrokerKeyNotFound: Self { .internalErrorBrokerKeyNotFound }
  public static var errorBrokerUnknown: Self { .internalErrorBrokerUnknown }
  public static var errorBrokerApplicationTokenWriteFailed: Self {
    .internalErrorBrokerApplicationTokenWriteFailed
  }
  public static var errorBrokerApplicationTokenReadFailed: Self {
    .internalErrorBrokerApplicationTokenReadFailed
  }
  public static var brokerNotAvailable: Self { .internalBrokerNotAvailable }
}

/// The logger, as MSAL before 0.7 called it.
@available(*, deprecated, message: "Use MSALGlobalConfig.loggerConfig.")
public final class MSALLogger: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
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
  public var uniqueId: String! { tenantProfile.identifier }
  /// The tenant that issued the token.
  @available(*, deprecated, message: "Use tenantProfile.tenantId.")
  public var tenantId: String! { tenantProfile.tenantId }
}

/// The properties of MSAL before 1.0. What could be set there has to be set before the application is made.
extension MSALPublicClientApplication {
  /// The application's registered client ID.
  @available(*, deprecated, message: "Use configuration.clientId.")
  public var clientId: String! { config.clientId }

  /// The authority that signs users in.
  @available(*, deprecated, message: "Use configuration.authority.")
  public var authority: MSALAuthority! { config.authority }

  /// Where the browser returns the response.
  @available(*, deprecated, message: "Use configuration.redirectUri.")
  public var redirectUri: MSALRedirectUri! {
    config.redirectUri.nonBlank.flatMap(URL.init(string:)).map(MSALRedirectUri.init(url:))
      ?? MSALRedirectUri()
  }

  /// The keychain group.
  @available(*, deprecated, message: "Use configuration.cacheConfig.keychainSharingGroup.")
  public var keychainGroup: String! { config.cacheConfig.keychainSharingGroup }

  /// How many seconds before its expiry an access token counts as expired.
  @available(*, deprecated, message: "Use configuration.tokenExpirationBuffer.")
  public var expirationBuffer: UInt {
    get { UInt(exactly: config.tokenExpirationBuffer.rounded()) ?? 0 }
    @available(*, unavailable, message: "Set MSALPublicClientApplicationConfig.tokenExpirationBuffer.")
    set {}
  }

  /// Whether an expired access token may be used while the token service is down.
  @available(*, deprecated, message: "Use configuration.extendedLifetimeEnabled.")
  public var extendedLifetimeEnabled: Bool {
    get { config.extendedLifetimeEnabled }
    @available(*, unavailable, message: "Set MSALPublicClientApplicationConfig.extendedLifetimeEnabled.")
    set {}
  }

  /// The capabilities of the application.
  @available(*, deprecated, message: "Use configuration.clientApplicationCapabilities.")
  public var clientCapabilities: [String]? {
    get { config.clientApplicationCapabilities }
    @available(
      *, unavailable, message: "Set MSALPublicClientApplicationConfig.clientApplicationCapabilities."
    )
    set {}
  }

  /// The part of the cloud to use, as parameters.
  @available(*, deprecated, message: "Use configuration.sliceConfig.")
  public var sliceParameters: [String: String]! {
    get { config.sliceConfig?.parameters }
    @available(*, unavailable, message: "Set MSALPublicClientApplicationConfig.sliceConfig.")
    set {}
  }

  /// Whether applications get tokens from the machine's identity broker: of all applications of the process.
  @available(*, deprecated, message: "Use MSALGlobalConfig.brokerAvailability.")
  public var brokerAvailability: MSALBrokeredAvailability {
    get { MSALGlobalConfig.brokerAvailability }
    set { MSALGlobalConfig.brokerAvailability = newValue }
  }
}

/// The kinds of prompts, as MSAL before 1.0 called it. Swift did not shorten these names: they have no word in common.
@available(*, deprecated, message: "Use MSALPromptType.")
public enum MSALUIBehavior: UInt, Sendable {
  case MSALSelectAccount = 0
  case MSALForceLogin = 1
  case MSALForceConsent = 2
  case MSALPromptIfNecessary = 3

  /// ``MSALSelectAccount``, the default then.
  public static var MSALUIBehaviorDefault: Self { .MSALSelectAccount }

  var promptType: MSALPromptType {
    switch self {
    case .MSALSelectAccount: .selectAccount
    case .MSALForceLogin: .login
    case .MSALForceConsent: .consent
    case .MSALPromptIfNecessary: .promptIfNecessary
    }
  }
}

/// An account, as MSAL before 0.1.4 called it.
@available(*, deprecated, renamed: "MSALAccount")
public typealias MSALUser = MSALAccount

extension MSALAccount {
  /// ``username``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "username")
  public var displayableId: String! { username }
  /// The user's name in the home tenant.
  @available(*, deprecated, message: "Use accountClaims?[\"name\"].")
  public var name: String! { account.tenantProfiles.first(where: \.isHomeTenant)?.name }
  /// The issuer of the ID token for the home tenant.
  @available(*, deprecated, message: "Use accountClaims?[\"iss\"].")
  public var identityProvider: String! { accountClaims?["iss"] as? String }
  /// The object id of the account in its home tenant.
  @available(*, deprecated, message: "Use homeAccountId?.objectId.")
  public var uid: String! { homeAccountId?.objectId }
  /// The home tenant.
  @available(*, deprecated, message: "Use homeAccountId?.tenantId.")
  public var utid: String! { homeAccountId?.tenantId }
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
