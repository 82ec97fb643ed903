import FoundationEssentials
import GLibSupport
import TokenCache

extension IdentityError {
  /// Creates the error for an OAuth error response (RFC 6749 sections 4.1.2.1 and 5.2) to an interactive sign-in. The
  /// description has no control characters; the codes are the numbers after AADSTS.
  package init(
    refusal error: String, subError: String? = nil, description: String? = nil, codes: [Int] = []
  ) {
    self.init(
      Code(refusal: error, subError, codes), description ?? "The server refused: \(error).",
      advice: Advice.for(codes, description))
    oauthError = error
    self.subError = subError
    oauthErrorDescription = description
    stsErrorCodes = codes
  }

  /// Reads the body of a response; `nil` if it has no `error`.
  init?(refusal fields: JSONObject) {
    func text(_ name: String, limit: Int = 200) -> String? {
      fields[name]?.stringValue.nonBlank?.printable(limit: limit)
    }
    guard let error = text("error") else { return nil }
    let description = text("error_description", limit: 2000)
    let codes = (fields["error_codes"]?.arrayValue ?? []).compactMap {
      $0.numberValue.flatMap(Int.init(exactly:))
    }
    self.init(
      refusal: error, subError: text("suberror"), description: description,
      codes: codes.isEmpty ? Self.codes(in: description) : codes)
    claims = fields["claims"]?.stringValue.nonBlank
    // Microsoft's services name the account.
    homeAccountID = (fields["client_info"]?.stringValue).flatMap(ClientInfo.init(raw:))?.homeAccountID
    displayableID = text("adi")
  }

  /// Reads the parameters of a redirect; `nil` if they have no `error`.
  init?(redirect parameters: [String: String]) {
    var fields = parameters.filter { ["error", "error_description", "claims"].contains($0.key) }
    fields["suberror"] = parameters["suberror"].nonBlank ?? parameters["error_subcode"]
    self.init(refusal: fields.mapValues(JSONValue.string))
  }

  /// The number at the start of a description.
  private static func codes(in description: String?) -> [Int] {
    guard let text = description, text.hasPrefix("AADSTS") else { return [] }
    return Int(text.dropFirst("AADSTS".count).prefix { $0.isASCII && $0.isNumber }).map { [$0] } ?? []
  }

  /// The error for a silent request: a sign-in is required, unless the server refused the application itself.
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

  /// Whether the request had scopes of more than one resource, which no sign-in changes.
  package var asksForSeveralResources: Bool { stsErrorCodes.contains(28000) }

  /// Whether the error has this OAuth error and suberror.
  package func isRefusal(_ error: String, _ subError: String? = nil) -> Bool {
    oauthError?.lowercased() == error && (subError == nil || self.subError?.lowercased() == subError)
  }

  /// Whether the response was an OAuth error. Any other, such as a proxy's page, is not about the request.
  var isOAuthRefusal: Bool { oauthError != nil && !isOutage }

  /// Whether the network, the server or the broker is down. Another status without an OAuth error, such as 404, is no
  /// outage, since a retry would not help.
  var isOutage: Bool {
    code.category == .outage || code == .noBroker || code == .brokerFailed
  }
}

extension IdentityError.Code {
  /// The table of MSAL for iOS and macOS; names are compared without regard to case.
  fileprivate init(refusal error: String, _ subError: String?, _ codes: [Int]) {
    let subError = subError?.lowercased()
    self =
      switch error.lowercased() {
      // Microsoft's number decides, whatever OAuth error comes with it.
      case _ where codes.contains(50129): .workplaceJoinRequired
      case "interaction_required": .interactionRequired
      case "invalid_grant" where subError == "transfer_token_expired": .userCanceled
      case "invalid_grant" where subError == "insufficient_device_strength": .insufficientDeviceStrength
      case "invalid_grant": .invalidGrant
      case "invalid_request" where codes.contains(50142): .resetPasswordRequired
      case "invalid_request": .invalidRequest
      case "invalid_client": .invalidClient
      case "invalid_scope": .invalidScope
      case "unauthorized_client" where subError == "protection_policy_required":
        .serverProtectionPoliciesRequired
      case "unauthorized_client": .unauthorizedClient
      // The standard error, and Entra ID's own in the device flow.
      case "access_denied", "authorization_declined", "tokentransferfailedotc": .userCanceled
      case "server_error", "temporarily_unavailable": .serverError
      case "expired_token": .deviceCodeExpired
      default: .authorizationFailed
      }
  }
}
