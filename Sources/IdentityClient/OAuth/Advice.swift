/// Advice for the error numbers of Microsoft's services. It is only for display.
enum Advice {
  /// The advice for a refusal, if any is known.
  static func `for`(_ codes: [Int], _ description: String?) -> String? {
    if let hint = codes.lazy.compactMap({ hint($0) ?? beyondSignIn($0) }).first { return hint }
    guard description?.hasPrefix("AADB2C90118") == true else { return nil }
    return "The person asked to reset the password: start the policy for that."
  }

  private static func hint(_ code: Int) -> String? {
    switch code {
    case 16000, 50020, 51004, 90072:
      "The account is not in this tenant: choose another account or have it invited."
    case 50011, 500112:
      "The redirect URI is not registered: add http://localhost under \"Mobile and desktop applications\"."
    case 50034, 50126: "The user name or the password is wrong."
    case 50053: "The account is locked, or the address it came from is blocked."
    case 50055, 50144: "The password has expired: reset it."
    case 50059, 90019: "The server cannot tell the tenant: name it in the authority."
    case 50072, 50074, 50076, 50078, 50079, 50158: "A second factor is needed: sign in interactively."
    case 50085, 50173, 50132, 50133, 50089, 70008, 700_082, 70043:
      "The session has expired or was revoked: sign in again."
    case 50097, 50187, 53000, 53001, 50129: "The device must be registered and compliant."
    case 50194: "The application belongs to one tenant: use that tenant's id in the authority."
    case 50196: "The server has seen the same request too often: do not repeat it, look after the cache."
    case 500_011, 650_052, 650_057, 65005:
      "The resource is unknown, not subscribed to, or not listed in the application's registration."
    case 50049, 90002, 90038: "The cloud or the tenant does not exist there: check the authority."
    case 54005: "The code was used before: start the sign-in again."
    case 65001: "Consent is needed: sign in interactively."
    case 90094, 90095: "An administrator has to consent."
    case 65004: "The person declined to consent."
    case 70011, 28002, 700_022, 700_023: "Check the scopes: all of them must be of one resource."
    case 900_144: "A parameter of the request is empty: check the one that the server names."
    case 90006, 90024, 90033, 90090, 50033, 50087: "The failure is temporary: try again later."
    case 9_002_332, 90130, 90124: "The application cannot be used with this kind of account: name a tenant."
    default: nil
    }
  }

  /// The advice if another sign-in would fail in the same way.
  static func beyondSignIn(_ code: Int) -> String? {
    switch code {
    case 50057, 7_000_112, 70001:
      "The account or the application is disabled: ask the organisation's administrator."
    case 50105: "The account is not assigned to the application: ask the organisation's administrator."
    case 53003, 530_032, 530_035, 530_036, 53004, 53011:
      "The organisation's policies block the sign-in: ask its administrator."
    case 700_016, 700_011: "The client id is unknown in this tenant: check both."
    case 7_000_218: "The application is no public client: switch on \"Allow public client flows\"."
    default: nil
    }
  }
}

extension IdentityError {
  /// Whether a sign-in may resolve the error, by its numbers.
  public var canBeResolvedBySignIn: Bool {
    !mustBeResolvedByLender && stsErrorCodes.allSatisfy { Advice.beyondSignIn($0) == nil }
  }
}

extension IdentityError.Code {
  /// The advice for an error of this code.
  var advice: String? {
    switch self {
    case .interactionRequired, .accountRequired, .accountNotFound: "Sign in interactively."
    case .serverProtectionPoliciesRequired, .workplaceJoinRequired, .insufficientDeviceStrength:
      "Ask the organisation's administrator."
    case .resetPasswordRequired: "Reset the password, then sign in again."
    case .serverError, .unhandledResponse: "Try again later."
    case .invalidState, .timedOut, .deviceCodeExpired: "Start the sign-in again."
    case .serverDeclinedScopes, .userCanceled, .cancelled, .invalidParameter, .redirectSchemeNotRegistered,
      .invalidRedirectURI, .invalidRequest, .invalidClient, .invalidGrant, .invalidScope, .unauthorizedClient,
      .unexpected, .unexpectedHTTPResponse, .authorityValidationFailed, .mismatchedUser, .ambiguousAccount,
      .authorizationFailed, .interactiveSessionAlreadyRunning, .noAuthenticator, .browserUnavailable,
      .listenerFailed, .invalidResponse, .nonHttpsRedirect, .network, .noBroker, .brokerFailed, .cache:
      nil
    }
  }
}
