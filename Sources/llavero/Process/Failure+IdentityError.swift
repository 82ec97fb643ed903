import IdentityClient

extension IdentityError: ToolError {
  var toolMessage: Failure.Message { Failure.Message(self) }
}

extension Failure.Message {
  /// What a failure of the sign-in layer means for the tool.
  init(_ error: IdentityError) {
    if let cacheError = error.cacheError {
      self.init(cacheError)
      return
    }
    let code: Failure.Code =
      switch error.code {
      case .interactionRequired, .serverDeclinedScopes, .serverProtectionPoliciesRequired,
        .workplaceJoinRequired, .insufficientDeviceStrength, .resetPasswordRequired, .accountRequired,
        .accountNotFound, .timedOut, .deviceCodeExpired:
        .interactionRequired
      case .userCanceled, .cancelled: .cancelled
      case .network, .serverError, .unhandledResponse: .network
      case .invalidParameter, .invalidRedirectURI: .usage
      default: .error
      }
    self.init(
      code: code, name: error.code.rawValue, message: Self.message(of: error), advice: Self.advice(on: error))
  }

  /// The error of a renewal that was refused says no more than MSAL does, so that the server's reason is added.
  private static func message(of error: IdentityError) -> String {
    let reason = error.code == .interactionRequired ? error.oauthErrorDescription : nil
    var message = error.message
    if let reason, reason != error.message { message += ": \(reason)" }
    // What an administrator asks for first.
    if let subError = error.subError, !message.contains(subError) { message += " (\(subError))" }
    return message
  }

  private static func advice(on error: IdentityError) -> String? {
    switch error.code {
    case .interactionRequired where !error.isElsewhere:
      [error.advice, "Sign in with \"llavero login\"."].compactMap(\.self).joined(separator: " ")
    case .browserUnavailable:
      [error.advice, "\"llavero login --no-browser\" shows its address."].compactMap(\.self)
        .joined(separator: " ")
    case .serverDeclinedScopes:
      "Granted: \(error.grantedScopes.joined(separator: " ")). "
        + "Declined: \(error.declinedScopes.joined(separator: " "))."
    default: error.advice
    }
  }
}
