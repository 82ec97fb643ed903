import Foundation
import TokenCache

extension NSError {
  /// An error in `NSOSStatusErrorDomain` with the code that Apple's keychain has for such a case; in
  /// ``MSALErrorDomain`` what is no failure of the keyring.
  convenience init(_ error: CacheError, userInfo: [String: Any] = [:]) {
    var userInfo = userInfo
    userInfo[NSUnderlyingErrorKey] = error as NSError
    switch error.code {
    case .cancelled:
      self.init(
        specific: MSALError.userCanceled.rawValue, error.message, advice: error.advice, userInfo: userInfo)
    case .signedOut:
      self.init(
        specific: MSALError.interactionRequired.rawValue, error.message, advice: error.advice,
        userInfo: userInfo)
    case .invalidGroup:
      self.init(
        specific: MSALInternalError.internalErrorInvalidParameter.rawValue, error.message,
        advice: error.advice, userInfo: userInfo)
    case .invalidResponse:
      self.init(
        specific: MSALInternalError.internalErrorInvalidResponse.rawValue, error.message,
        advice: error.advice, userInfo: userInfo)
    default:
      userInfo[NSLocalizedDescriptionKey] = error.description
      userInfo[NSLocalizedRecoverySuggestionErrorKey] = error.advice
      self.init(domain: NSOSStatusErrorDomain, code: error.code.status.rawValue, userInfo: userInfo)
    }
  }
}

/// The codes of Apple's Security framework (`SecBase.h`) that have a meaning here.
private enum KeychainStatus: Int {
  /// `errSecUserCanceled`
  case userCanceled = -128
  /// `errSecNotAvailable`
  case notAvailable = -25291
  /// `errSecAuthFailed`
  case authFailed = -25293
  /// `errSecDataTooLarge`
  case dataTooLarge = -25302
  /// `errSecInteractionNotAllowed`
  case interactionNotAllowed = -25308
  /// `errSecDecode`
  case decode = -26275
  /// `errSecInternalError`
  case internalError = -26276
}

extension CacheError.Code {
  fileprivate var status: KeychainStatus {
    switch self {
    case .locked: .interactionNotAllowed
    case .promptDismissed: .userCanceled
    case .unavailable, .timedOut: .notAvailable
    case .damaged, .newerVersion, .rolledBack: .decode
    case .wrongKey: .authFailed
    case .tooLarge: .dataTooLarge
    case .refused, .cancelled, .signedOut, .invalidGroup, .invalidResponse: .internalError
    }
  }
}
