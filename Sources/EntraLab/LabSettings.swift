/// The settings of the lab. Times are in seconds.
package struct LabSettings: Codable, Sendable, Equatable {
  package var tokenLifetime = 3600
  /// For clients that declare the capability `cp1`.
  package var longTokenLifetime = 86_400
  /// 0: half the lifetime for long-lived tokens, and absent for others.
  package var refreshIn = 0
  package var extendedLifetime = 7200
  package var refreshTokenLifetime = 90 * 86_400
  /// Added to the clock that all times come from.
  package var clockSkew = 0
  /// Each refresh token works once, as with servers that rotate them. Entra's work until they expire.
  package var strictRefreshTokens = false
  package var deviceInterval = 5
  package var deviceLifetime = 900
  /// Whether polling faster than the interval gets `slow_down`. Entra rarely does this.
  package var enforceDeviceInterval = false
  package var authorize = AuthorizeResponse.loginHint
  package var consentScopes = ["Files.ReadWrite.All"]
  package var declinedScopes: [String] = []
  /// Scopes of Graph that do not exist. Every other well-formed one does.
  package var unknownScopes: [String] = []
  /// The claims that Graph demands: it challenges a token that was requested without them. For example
  /// `{"acrs": {"essential": true, "value": "c1"}}`.
  package var requiredClaims: [String: JSON] = [:]
  /// The nonce that signed requests must have; `nil` for any unused one.
  package var popNonce: String?
  /// Replaces claims of the ID token; `null` removes one. The next three do the same for other responses.
  package var idTokenClaims: [String: JSON] = [:]
  package var tokenResponse: [String: JSON] = [:]
  package var authorizeResponse: [String: JSON] = [:]
  package var metadata: [String: JSON] = [:]

  package init() {}

  // Named, so that "configure" knows those that are nil, too.
  enum CodingKeys: String, CodingKey {
    case tokenLifetime, longTokenLifetime, refreshIn, extendedLifetime, refreshTokenLifetime, clockSkew
    case strictRefreshTokens, deviceInterval, deviceLifetime, enforceDeviceInterval, authorize
    case consentScopes, declinedScopes, unknownScopes, requiredClaims, popNonce, idTokenClaims, tokenResponse,
      authorizeResponse, metadata
  }

  /// How the authorize endpoint responds to a valid request.
  package enum AuthorizeResponse: Codable, Sendable, Equatable {
    /// With a page to select the user.
    case page
    /// At once for a user named by `login_hint`, else with the page.
    case loginHint
    /// At once, for this user.
    case user(name: String)
    /// At once, as if the user had cancelled.
    case deny
    /// At once, with this error.
    case error(code: String, description: String)
  }
}

/// A condition of an account for which its refresh tokens are refused.
package enum AccountCondition: String, Codable, Sendable, CaseIterable {
  case accountDeleted
  case badToken
  case tokenExpired
  case passwordExpired
  case messageOnly
  case additionalAction
  case basicAction
  case consentRequired
  case deviceAuthenticationFailed
  case protectionPolicyRequired
  case accountDisabled

  var failure: LabError {
    switch self {
    case .accountDeleted: .grant(50034, "The user account does not exist.", "user_account_deleted")
    case .badToken: .grant(700_082, "The refresh token has expired due to inactivity.", "bad_token")
    case .tokenExpired: .grant(70043, "The refresh token is bound by sign-in frequency.", "token_expired")
    case .passwordExpired: .grant(50055, "The password is expired.", "user_password_expired")
    case .messageOnly: .grant(53003, "Access has been blocked by Conditional Access.", "message_only")
    case .additionalAction: .grant(53000, "The device is not compliant.", "additional_action")
    case .basicAction: .grant(50079, "Strong authentication enrollment is needed.", "basic_action")
    case .consentRequired: .grant(65001, "The user has not consented.", "consent_required")
    case .deviceAuthenticationFailed:
      .grant(50097, "Device authentication is required.", "device_authentication_failed")
    case .protectionPolicyRequired:
      LabError(
        "unauthorized_client", 53005, "Application needs to enforce Intune protection policies.",
        suberror: "protection_policy_required")
    case .accountDisabled: .grant(50057, "The user account is disabled.")
    }
  }
}
