import Foundation
import GLibSupport

/// The codes of errors in ``MSALErrorDomain`` that a program can act on.
///
/// For example:
///
/// ```swift
/// let nsError = error as NSError
/// if nsError.domain == MSALErrorDomain,
///   nsError.code == MSALError.interactionRequired.rawValue
/// {
///   // Start an interactive sign-in.
/// }
/// ```
public enum MSALError: Int, Sendable {
  /// An error that a program cannot resolve by itself. ``MSALInternalErrorCodeKey`` has its specific code.
  case `internal` = -50000
  /// The server requires a device that is registered with the organization (AADSTS50129), reported during an interactive
  /// sign-in. A silent request that is refused for that reason ends with ``interactionRequired``, as on Apple's systems.
  case workplaceJoinRequired = -50001
  /// No token is available, or the server requires the user: sign in interactively.
  case interactionRequired = -50002
  /// The server granted only some of the scopes. ``MSALGrantedScopesKey``, ``MSALDeclinedScopesKey`` and
  /// ``MSALInvalidResultKey`` have the scopes and the result.
  case serverDeclinedScopes = -50003
  /// The resource is under a protection policy that this program does not meet.
  case serverProtectionPoliciesRequired = -50004
  /// The user cancelled or declined the sign-in, or the program cancelled it.
  case userCanceled = -50005
  /// The server failed. It arrives as ``internal`` with this value under ``MSALInternalErrorCodeKey``.
  case serverError = -50006
  /// The device is not protected well enough. It arrives as ``internal`` with this value under
  /// ``MSALInternalErrorCodeKey``.
  case insufficientDeviceStrength = -50007
  /// The device was enrolled meanwhile. Never reported on Linux.
  case mdmEnrollmentCompletedNeedsRetry = -50008
  /// The user has to set a new password.
  case serverInvalidRequestResetPasswordRequired = -50142
}

extension NSError {
  /// The code of an error with the specific code `specific`, and the value under ``MSALInternalErrorCodeKey``. Only codes
  /// that a program can act on are used as codes.
  static func codes(for specific: Int) -> (code: MSALError, internalCode: Int?) {
    switch MSALError(rawValue: specific) {
    case .workplaceJoinRequired?, .interactionRequired?, .serverDeclinedScopes?,
      .serverProtectionPoliciesRequired?, .userCanceled?, .serverInvalidRequestResetPasswordRequired?:
      (MSALError(rawValue: specific) ?? .internal, nil)
    case .internal?: (.internal, MSALInternalError.internalErrorUnexpected.rawValue)
    default: (.internal, specific)
    }
  }

  /// An error in ``MSALErrorDomain``. `specific` is the raw value of an ``MSALError`` or ``MSALInternalError``.
  convenience init(specific: Int, _ message: String, advice: String? = nil, userInfo: [String: Any] = [:]) {
    let (code, internalCode) = Self.codes(for: specific)
    var userInfo = userInfo
    if userInfo[MSALErrorDescriptionKey] == nil { userInfo[MSALErrorDescriptionKey] = message }
    userInfo[MSALInternalErrorCodeKey] = internalCode.map { NSNumber(value: $0) }
    self.init(domain: MSALErrorDomain, code: code.rawValue, message, advice: advice, userInfo: userInfo)
  }

  /// An error that says what happened and what to do about it.
  convenience init(domain: String, code: Int, _ message: String, advice: String?, userInfo: [String: Any]) {
    var userInfo = userInfo
    userInfo[NSLocalizedDescriptionKey] = sentences(message, advice)
    userInfo[NSLocalizedRecoverySuggestionErrorKey] = advice
    self.init(domain: domain, code: code, userInfo: userInfo)
  }

  /// The error of a search that found nothing. MSAL for iOS and macOS returns `nil` without an error there, for which Swift
  /// throws an error of this domain and code. Programs tell it by its domain from a failure.
  static func notFound(_ message: String, advice: String? = nil, userInfo: [String: Any] = [:]) -> NSError {
    NSError(
      domain: "Foundation._GenericObjCError", code: 0, message, advice: advice, userInfo: userInfo)
  }

  /// An error in ``MSALErrorDomain`` that a program cannot resolve by itself.
  convenience init(_ code: MSALInternalError, _ message: String, advice: String? = nil) {
    self.init(specific: code.rawValue, message, advice: advice)
  }
}
