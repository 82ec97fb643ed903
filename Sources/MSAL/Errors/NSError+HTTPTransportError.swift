import Foundation
import HTTPSupport

extension NSError {
  /// An error in `NSURLErrorDomain`, which is what programs look for to tell that the network is down.
  convenience init(
    _ error: HTTPTransportError, message: String, advice: String?, userInfo: [String: Any]
  ) {
    var userInfo = userInfo
    userInfo[NSLocalizedDescriptionKey] = advice.map { "\(message) \($0)" } ?? message
    userInfo[NSLocalizedRecoverySuggestionErrorKey] = advice
    userInfo[NSUnderlyingErrorKey] = error as NSError
    self.init(domain: NSURLErrorDomain, code: error.code, userInfo: userInfo)
  }
}

extension HTTPTransportError {
  fileprivate var code: Int {
    switch self {
    case .invalidRequest, .invalidConfiguration: NSURLErrorBadURL
    case .cannotFindHost: NSURLErrorCannotFindHost
    case .cannotConnect: NSURLErrorCannotConnectToHost
    case .connectionLost: NSURLErrorNetworkConnectionLost
    case .untrustedServer: NSURLErrorServerCertificateUntrusted
    case .timedOut: NSURLErrorTimedOut
    case .responseTooLarge: NSURLErrorDataLengthExceedsMaximum
    case .malformedResponse: NSURLErrorBadServerResponse
    case .cancelled: NSURLErrorCancelled
    }
  }
}
