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
    func value(_ code: MSALError) -> Int { code.rawValue }
    func value(_ code: MSALInternalError) -> Int { code.rawValue }
    return switch self {
    case .interactionRequired: value(.interactionRequired)
    case .serverDeclinedScopes: value(.serverDeclinedScopes)
    case .serverProtectionPoliciesRequired: value(.serverProtectionPoliciesRequired)
    case .userCanceled, .cancelled: value(.userCanceled)
    case .serverError: value(.serverError)
    case .workplaceJoinRequired: value(.workplaceJoinRequired)
    case .insufficientDeviceStrength: value(.insufficientDeviceStrength)
    case .resetPasswordRequired: value(.serverInvalidRequestResetPasswordRequired)
    case .invalidParameter: value(.internalErrorInvalidParameter)
    case .redirectSchemeNotRegistered: value(.internalErrorRedirectSchemeNotRegistered)
    case .invalidRedirectURI: value(.internalErrorInvalidRedirectURI)
    case .invalidRequest: value(.internalErrorInvalidRequest)
    case .invalidClient: value(.internalErrorInvalidClient)
    case .invalidGrant: value(.internalErrorInvalidGrant)
    case .invalidScope: value(.internalErrorInvalidScope)
    case .unauthorizedClient: value(.internalErrorUnauthorizedClient)
    case .unhandledResponse: value(.internalErrorUnhandledResponse)
    case .unexpectedHTTPResponse: value(.internalErrorUnexpectedHttpResponse)
    case .authorityValidationFailed: value(.internalErrorFailedAuthorityValidation)
    case .mismatchedUser: value(.internalErrorMismatchedUser)
    case .ambiguousAccount: value(.internalErrorAmbiguousAccount)
    case .authorizationFailed: value(.internalErrorAuthorizationFailed)
    case .accountRequired, .accountNotFound: value(.internalErrorAccountRequired)
    case .interactiveSessionAlreadyRunning: value(.internalErrorInteractiveSessionAlreadyRunning)
    case .noAuthenticator, .browserUnavailable: value(.internalErrorNoViewController)
    case .invalidState: value(.internalErrorInvalidState)
    case .invalidResponse: value(.internalErrorInvalidResponse)
    case .nonHttpsRedirect: value(.internalErrorNonHttpsRedirect)
    case .timedOut, .deviceCodeExpired: value(.internalErrorSessionCanceled)
    case .noBroker: value(.internalBrokerNotAvailable)
    case .brokerFailed: value(.internalErrorBrokerUnknown)
    case .unexpected, .listenerFailed, .network, .cache: value(.internalErrorUnexpected)
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
    let (domain, code) = error.code.specific
    if domain == MSALErrorDomain {
      self.init(specific: code, error.message, advice: error.advice, userInfo: userInfo)
    } else {
      self.init(domain: domain, code: code, error.message, advice: error.advice, userInfo: userInfo)
    }
  }
}

extension CacheError.Code {
  /// The code of Apple's Security framework (`SecBase.h`), or the raw value of an ``MSALError`` or ``MSALInternalError`` where that
  /// says more.
  fileprivate var specific: (domain: String, code: Int) {
    switch self {
    case .cancelled: (MSALErrorDomain, MSALError.userCanceled.rawValue)
    case .signedOut: (MSALErrorDomain, MSALError.interactionRequired.rawValue)
    case .invalidGroup: (MSALErrorDomain, MSALInternalError.internalErrorInvalidParameter.rawValue)
    case .invalidResponse: (MSALErrorDomain, MSALInternalError.internalErrorInvalidResponse.rawValue)
    case .locked: (NSOSStatusErrorDomain, -25308)  // errSecInteractionNotAllowed
    case .promptDismissed: (NSOSStatusErrorDomain, -128)  // errSecUserCanceled
    case .unavailable, .timedOut: (NSOSStatusErrorDomain, -25291)  // errSecNotAvailable
    case .damaged, .newerVersion, .rolledBack: (NSOSStatusErrorDomain, -26275)  // errSecDecode
    case .wrongKey: (NSOSStatusErrorDomain, -25293)  // errSecAuthFailed
    case .tooLarge: (NSOSStatusErrorDomain, -25302)  // errSecDataTooLarge
    case .refused: (NSOSStatusErrorDomain, -26276)  // errSecInternalError
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
