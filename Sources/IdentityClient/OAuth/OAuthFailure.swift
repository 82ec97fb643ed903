import FoundationEssentials
import TokenCache

/// What an authorization server says when it refuses (RFC 6749 sections 4.1.2.1 and 5.2).
package struct OAuthFailure: Sendable {
  var error: String
  var subError: String?
  /// The server's explanation, without control characters.
  var description: String?
  /// The numbers after AADSTS.
  package var codes: [Int] = []
  /// The claims that the next sign-in has to ask for, as JSON.
  var claims: String?
  /// Whose account it is about, where Microsoft's services say it: `client_info`, and `adi` for the user name.
  var homeAccountID: String?
  var displayableID: String?

  package init(error: String, subError: String? = nil, description: String? = nil, codes: [Int] = []) {
    self.error = error
    self.subError = subError
    self.description = description
    self.codes = codes
  }

  /// Reads the body of a response; `nil` when it has no `error`.
  init?(fields: JSONObject) {
    func text(_ name: String, limit: Int = 200) -> String? {
      fields[name]?.stringValue.nonBlank?.printable(limit: limit)
    }
    guard let error = text("error") else { return nil }
    self.error = error
    subError = text("suberror")
    description = text("error_description", limit: 2000)
    codes = (fields["error_codes"]?.arrayValue ?? []).compactMap {
      $0.numberValue.flatMap(Int.init(exactly:))
    }
    if codes.isEmpty { codes = Self.codes(in: description) }
    claims = fields["claims"]?.stringValue.nonBlank
    homeAccountID = (fields["client_info"]?.stringValue).flatMap(ClientInfo.init(raw:))?.homeAccountID
    displayableID = text("adi")
  }

  /// Reads the parameters of a redirect; `nil` when they have no `error`.
  init?(parameters: [String: String]) {
    let names = ["error", "suberror", "error_description", "claims"]
    self.init(
      fields: Dictionary(
        uniqueKeysWithValues: names.compactMap { name in parameters[name].map { (name, .string($0)) } }))
    subError = subError ?? parameters["error_subcode"].nonBlank?.printable(limit: 200)
  }

  /// The number that a description begins with.
  private static func codes(in description: String?) -> [Int] {
    guard let text = description, text.hasPrefix("AADSTS") else { return [] }
    return Int(text.dropFirst("AADSTS".count).prefix { $0.isASCII && $0.isNumber }).map { [$0] } ?? []
  }
}

extension IdentityError {
  /// What a refusal means in an interactive sign-in.
  package init(_ failure: OAuthFailure) {
    let code = failure.code
    self.init(
      code, failure.description ?? "The server refused: \(failure.error).", advice: Advice.for(failure))
    oauthError = failure.error
    subError = failure.subError
    oauthErrorDescription = failure.description
    stsErrorCodes = failure.codes
    claims = failure.claims
    homeAccountID = failure.homeAccountID
    displayableID = failure.displayableID
  }

  /// What the refusal means to a silent request: a sign-in is required, unless the application itself is
  /// what the server refuses.
  var forSilentRequest: IdentityError {
    guard oauthError != nil, !asksForSeveralResources else { return self }
    switch code {
    case .invalidScope, .invalidClient, .serverProtectionPoliciesRequired, .serverError: return self
    default:
      var error = self
      error.code = .interactionRequired
      error.message = "User interaction is required"
      return error
    }
  }

  /// Whether the server refused scopes of more than one resource, which no sign-in changes.
  package var asksForSeveralResources: Bool { stsErrorCodes.contains(28000) }

  /// Whether a server refused with these words.
  package func isRefusal(_ error: String, _ subError: String? = nil) -> Bool {
    oauthError?.lowercased() == error && (subError == nil || self.subError?.lowercased() == subError)
  }

  /// Whether a server has said no in the words of OAuth. All else, such as a proxy's page, says nothing of the request.
  var isOAuthRefusal: Bool { oauthError != nil && !isOutage }

  /// Whether the network, the server or the broker is down. Another status without a refusal in the words of OAuth, such as
  /// 404, is no outage: asking again will not help.
  var isOutage: Bool {
    switch code {
    case .network, .serverError, .unhandledResponse, .noBroker, .brokerFailed: true
    default: false
    }
  }
}

extension OAuthFailure {
  /// The table of MSAL for iOS and macOS; names are compared without regard to case.
  var code: IdentityError.Code {
    let subError = subError?.lowercased()
    // Microsoft's own number for it, whatever the standard's word beside it is.
    if codes.contains(50129) { return .workplaceJoinRequired }
    switch error.lowercased() {
    case "interaction_required": return .interactionRequired
    case "invalid_grant" where subError == "transfer_token_expired": return .userCanceled
    case "invalid_grant" where subError == "insufficient_device_strength": return .insufficientDeviceStrength
    case "invalid_grant": return .invalidGrant
    case "invalid_request" where codes.contains(50142): return .resetPasswordRequired
    case "invalid_request": return .invalidRequest
    case "invalid_client": return .invalidClient
    case "invalid_scope": return .invalidScope
    case "unauthorized_client" where subError == "protection_policy_required":
      return .serverProtectionPoliciesRequired
    case "unauthorized_client": return .unauthorizedClient
    // The standard's word, and Entra ID's own in the device flow.
    case "access_denied", "authorization_declined", "tokentransferfailedotc": return .userCanceled
    case "server_error", "temporarily_unavailable": return .serverError
    case "expired_token": return .deviceCodeExpired
    default: return .authorizationFailed
    }
  }
}
