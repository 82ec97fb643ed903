import Foundation
import HTTPSupport
import IdentityClient
import TokenCache

extension NSError {
  /// The error with the domain and code that it has on iOS and macOS: in `NSURLErrorDomain` where the network failed, in
  /// `NSOSStatusErrorDomain` where the keyring did, and otherwise in ``MSALErrorDomain``.
  convenience init(_ error: IdentityError) {
    var userInfo = error.userInfo
    if let cause = error.transportError, cause != .cancelled {
      userInfo[NSUnderlyingErrorKey] = cause as NSError
      userInfo[NSURLErrorFailingURLErrorKey] = error.failedURL
      self.init(
        domain: NSURLErrorDomain, code: cause.code, error.message, advice: error.advice, userInfo: userInfo)
    } else if let cacheError = error.cacheError {
      self.init(cacheError, userInfo: userInfo)
    } else {
      let specific =
        error.transportError == .cancelled ? MSALError.userCanceled.rawValue : error.code.specific
      self.init(specific: specific, error.message, advice: error.advice, userInfo: userInfo)
    }
  }
}

extension IdentityError.Code {
  /// The raw value of an ``MSALError`` or ``MSALInternalError`` with the same meaning.
  var specific: Int {
    switch self {
    case .interactionRequired: MSALError.interactionRequired.rawValue
    case .serverDeclinedScopes: MSALError.serverDeclinedScopes.rawValue
    case .serverProtectionPoliciesRequired: MSALError.serverProtectionPoliciesRequired.rawValue
    case .userCanceled, .cancelled: MSALError.userCanceled.rawValue
    case .serverError: MSALError.serverError.rawValue
    case .workplaceJoinRequired: MSALError.workplaceJoinRequired.rawValue
    case .insufficientDeviceStrength: MSALError.insufficientDeviceStrength.rawValue
    case .resetPasswordRequired: MSALError.serverInvalidRequestResetPasswordRequired.rawValue
    default: internalError.rawValue
    }
  }

  private var internalError: MSALInternalError {
    switch self {
    case .invalidParameter: .internalErrorInvalidParameter
    case .redirectSchemeNotRegistered: .internalErrorRedirectSchemeNotRegistered
    case .invalidRedirectURI: .internalErrorInvalidRedirectURI
    case .invalidRequest: .internalErrorInvalidRequest
    case .invalidClient: .internalErrorInvalidClient
    case .invalidGrant: .internalErrorInvalidGrant
    case .invalidScope: .internalErrorInvalidScope
    case .unauthorizedClient: .internalErrorUnauthorizedClient
    case .unhandledResponse: .internalErrorUnhandledResponse
    case .unexpectedHTTPResponse: .internalErrorUnexpectedHttpResponse
    case .authorityValidationFailed: .internalErrorFailedAuthorityValidation
    case .mismatchedUser: .internalErrorMismatchedUser
    case .ambiguousAccount: .internalErrorAmbiguousAccount
    case .authorizationFailed: .internalErrorAuthorizationFailed
    case .accountRequired, .accountNotFound: .internalErrorAccountRequired
    case .interactiveSessionAlreadyRunning: .internalErrorInteractiveSessionAlreadyRunning
    case .noAuthenticator, .browserUnavailable: .internalErrorNoViewController
    case .invalidState: .internalErrorInvalidState
    case .invalidResponse: .internalErrorInvalidResponse
    case .nonHttpsRedirect: .internalErrorNonHttpsRedirect
    case .timedOut, .deviceCodeExpired: .internalErrorSessionCanceled
    case .noBroker: .internalBrokerNotAvailable
    case .brokerFailed: .internalErrorBrokerUnknown
    default: .internalErrorUnexpected
    }
  }
}

extension IdentityError {
  fileprivate var userInfo: [String: Any] {
    var userInfo: [String: Any] = [:]
    userInfo[MSALErrorDescriptionKey] = oauthErrorDescription
    userInfo[MSALOAuthErrorKey] = oauthError
    userInfo[MSALOAuthSubErrorKey] = subError
    if !stsErrorCodes.isEmpty {
      userInfo[MSALSTSErrorCodesKey] = stsErrorCodes.map { NSNumber(value: $0) }
    }
    userInfo[MSALHTTPResponseCodeKey] = httpStatus.map(String.init)
    if !httpHeaders.isEmpty { userInfo[MSALHTTPHeadersKey] = httpHeaders }
    userInfo[MSALCorrelationIDKey] = correlationID?.uuidString
    userInfo[MSALClaimsKey] = claims
    if code == .serverDeclinedScopes {
      // A silent request for these is what MSAL's documentation advises. It may not name the reserved ones.
      userInfo[MSALGrantedScopesKey] = grantedScopes.filter {
        !RequestedScopes.reserved.contains($0.lowercased())
      }
      userInfo[MSALDeclinedScopesKey] = declinedScopes
    }
    userInfo[MSALInvalidResultKey] = result.map(MSALResult.init)
    userInfo[MSALHomeAccountIdKey] = homeAccountID
    userInfo[MSALDisplayableUserIdKey] = displayableID
    userInfo[MSALBrokerVersionKey] = brokerVersion
    if isThrottled { userInfo[MSALThrottlingCacheHitKey] = NSNumber(value: 1) }
    return userInfo
  }
}

extension NSError {
  /// An error in `NSOSStatusErrorDomain` with the code that Apple's keychain has for such a case; in
  /// ``MSALErrorDomain`` other failures.
  convenience init(_ error: CacheError, userInfo: [String: Any] = [:]) {
    var userInfo = userInfo
    userInfo[NSUnderlyingErrorKey] = error as NSError
    if let specific = error.code.specific {
      self.init(specific: specific, error.message, advice: error.advice, userInfo: userInfo)
    } else {
      self.init(
        domain: NSOSStatusErrorDomain, code: error.code.keychainStatus, error.message, advice: error.advice,
        userInfo: userInfo)
    }
  }
}

extension CacheError.Code {
  /// The raw value of an ``MSALError`` or ``MSALInternalError``, where that says more than the keychain's code.
  fileprivate var specific: Int? {
    switch self {
    case .cancelled: MSALError.userCanceled.rawValue
    case .signedOut: MSALError.interactionRequired.rawValue
    case .invalidGroup: MSALInternalError.internalErrorInvalidParameter.rawValue
    case .invalidResponse: MSALInternalError.internalErrorInvalidResponse.rawValue
    default: nil
    }
  }

  /// The code of Apple's Security framework (`SecBase.h`).
  fileprivate var keychainStatus: Int {
    switch self {
    case .locked: -25308  // errSecInteractionNotAllowed
    case .promptDismissed: -128  // errSecUserCanceled
    case .unavailable, .timedOut: -25291  // errSecNotAvailable
    case .damaged, .newerVersion, .rolledBack: -26275  // errSecDecode
    case .wrongKey: -25293  // errSecAuthFailed
    case .tooLarge: -25302  // errSecDataTooLarge
    case .refused, .cancelled, .signedOut, .invalidGroup, .invalidResponse: -26276  // errSecInternalError
    }
  }
}

extension HTTPTransportError {
  /// The code in `NSURLErrorDomain`, which programs check for to recognize a network failure.
  fileprivate var code: Int {
    switch self {
    case .invalidRequest, .invalidConfiguration: NSURLErrorBadURL
    case .notConnected: NSURLErrorNotConnectedToInternet
    case .cannotFindHost: NSURLErrorCannotFindHost
    case .cannotConnect: NSURLErrorCannotConnectToHost
    case .secureConnectionFailed: NSURLErrorSecureConnectionFailed
    case .connectionLost: NSURLErrorNetworkConnectionLost
    case .untrustedServer: NSURLErrorServerCertificateUntrusted
    case .timedOut: NSURLErrorTimedOut
    case .responseTooLarge: NSURLErrorDataLengthExceedsMaximum
    case .malformedResponse: NSURLErrorBadServerResponse
    case .cancelled: NSURLErrorCancelled
    }
  }
}
