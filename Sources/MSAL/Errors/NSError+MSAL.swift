import Foundation
import IdentityClient
import TokenCache

extension NSError {
  /// Which code an error gets whose cause has the number `specific`, and what stands under
  /// ``MSALInternalErrorCodeKey``. Only what a program may act on has a code of its own.
  static func codes(for specific: Int) -> (code: MSALError, internalCode: Int?) {
    switch MSALError(rawValue: specific) {
    case .workplaceJoinRequired?, .interactionRequired?, .serverDeclinedScopes?,
      .serverProtectionPoliciesRequired?, .userCanceled?, .serverInvalidRequestResetPasswordRequired?:
      (MSALError(rawValue: specific) ?? .internal, nil)
    case .internal?: (.internal, MSALInternalError.internalErrorUnexpected.rawValue)
    default: (.internal, specific)
    }
  }

  /// An error in ``MSALErrorDomain``.
  ///
  /// - Parameters:
  ///   - specific: The raw value of an ``MSALError`` or ``MSALInternalError``.
  ///   - message: What happened, in a sentence.
  ///   - advice: What to do about it, in a sentence.
  ///   - userInfo: What is known besides.
  convenience init(
    specific: Int, _ message: String, advice: String? = nil, userInfo: [String: Any] = [:]
  ) {
    let (code, internalCode) = Self.codes(for: specific)
    var userInfo = userInfo
    userInfo[NSLocalizedDescriptionKey] = advice.map { "\(message) \($0)" } ?? message
    userInfo[NSLocalizedRecoverySuggestionErrorKey] = advice
    if userInfo[MSALErrorDescriptionKey] == nil { userInfo[MSALErrorDescriptionKey] = message }
    userInfo[MSALInternalErrorCodeKey] = internalCode.map { NSNumber(value: $0) }
    self.init(domain: MSALErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// An error in ``MSALErrorDomain`` that a program cannot mend by itself.
  convenience init(_ code: MSALInternalError, _ message: String, advice: String? = nil) {
    self.init(specific: code.rawValue, message, advice: advice)
  }

  convenience init(_ error: ClaimsRequestError) {
    self.init(.internalErrorInvalidParameter, error.description)
  }
}
