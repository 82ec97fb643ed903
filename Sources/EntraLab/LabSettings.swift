/// What a test can set about the lab. Times are in seconds.
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
  /// Answer `slow_down` to who polls faster than the interval. Entra rarely does.
  package var enforceDeviceInterval = false
  package var authorize = AuthorizeAnswer.loginHint
  /// Scopes without consent so far.
  package var consentScopes = ["Files.ReadWrite.All"]
  /// Scopes that are left out of every grant.
  package var declinedScopes: [String] = []
  /// The nonce that signed requests must have; without it each must have one that none had before.
  package var popNonce: String?
  /// Lays these members over the ID token's claims; `null` removes one. The same holds for the next three.
  package var idTokenClaims: [String: JSON] = [:]
  package var tokenResponse: [String: JSON] = [:]
  package var authorizeResponse: [String: JSON] = [:]
  package var metadata: [String: JSON] = [:]

  package init() {}

  /// How the authorize endpoint answers a request that nothing is wrong with.
  package enum AuthorizeAnswer: Codable, Sendable, Equatable {
    /// A page asks for the user.
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

/// Something that is wrong with an account when it is asked for tokens by a refresh token.
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

  var failure: OAuthFailure {
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
      OAuthFailure(
        "unauthorized_client", 53005, "Application needs to enforce Intune protection policies.",
        suberror: "protection_policy_required")
    case .accountDisabled: .grant(50057, "The user account is disabled.", nil)
    }
  }
}
