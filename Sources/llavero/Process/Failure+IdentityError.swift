import IdentityClient

extension IdentityError: ToolError {
  var toolMessage: Failure.Message {
    if let cacheError { return cacheError.toolMessage }
    let exitCode: Failure.Code =
      switch code {
      case .interactionRequired, .serverDeclinedScopes, .serverProtectionPoliciesRequired,
        .workplaceJoinRequired, .insufficientDeviceStrength, .resetPasswordRequired, .accountRequired,
        .accountNotFound, .timedOut, .deviceCodeExpired:
        .interactionRequired
      case .userCanceled, .cancelled: .cancelled
      case .network, .serverError, .unhandledResponse: .network
      case _ where isLenderGone: .network
      case .invalidParameter, .invalidRedirectURI: .usage
      case .invalidRequest where asksForSeveralResources: .usage
      default: .error
      }
    return Failure.Message(
      code: exitCode, name: code.rawValue, message: fullMessage, advice: toolAdvice,
      needsSignIn: code == .interactionRequired && !mustBeResolvedByLender)
  }

  /// The error of a renewal that was refused says no more than MSAL does, so that the server's reason is added.
  private var fullMessage: String {
    let reason = code == .interactionRequired ? oauthErrorDescription : nil
    var text = message
    if let reason, reason != message { text += ": \(reason)" }
    // What an administrator asks for first.
    if let subError, !text.contains(subError) { text += " (\(subError))" }
    return text
  }

  private var toolAdvice: String? {
    switch code {
    case .invalidRequest where asksForSeveralResources: "Ask for the scopes of each resource by themselves."
    case .browserUnavailable: sentences(advice, "\"llavero login --no-browser\" shows its address.")
    case .serverDeclinedScopes:
      "Granted: \(grantedScopes.joined(separator: " ")). Declined: \(declinedScopes.joined(separator: " "))."
    default: advice
    }
  }
}
