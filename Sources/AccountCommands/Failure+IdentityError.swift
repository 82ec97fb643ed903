package import CommandSupport
package import IdentityClient

extension Failure.Message {
  /// What a failure of the sign-in layer means for the tool.
  package init(_ error: IdentityError) {
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
      case .network, .serverError: .network
      case .invalidParameter, .invalidRedirectURI: .usage
      default: .error
      }
    self.init(code: code, name: error.code.rawValue, message: error.message, advice: Self.advice(on: error))
  }

  private static func advice(on error: IdentityError) -> String? {
    switch error.code {
    case .interactionRequired: "Sign in with \"llavero login\"."
    case .serverDeclinedScopes:
      "Granted: \(error.grantedScopes.joined(separator: " ")). "
        + "Declined: \(error.declinedScopes.joined(separator: " "))."
    default: error.advice
    }
  }
}
