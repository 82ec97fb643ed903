import FoundationEssentials
import TokenCache

extension IdentityError {
  /// What a refusal by an authorization server (RFC 6749 sections 4.1.2.1 and 5.2) means in an interactive sign-in. The
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

  /// Reads the body of a response; `nil` when it has no `error`.
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
    // Microsoft's services say whose account it is about.
    homeAccountID = (fields["client_info"]?.stringValue).flatMap(ClientInfo.init(raw:))?.homeAccountID
    displayableID = text("adi")
  }

  /// Reads the parameters of a redirect; `nil` when they have no `error`.
  init?(redirect parameters: [String: String]) {
    var fields = parameters.filter { ["error", "error_description", "claims"].contains($0.key) }
    fields["suberror"] = parameters["suberror"].nonBlank ?? parameters["error_subcode"]
    self.init(refusal: fields.mapValues(JSONValue.string))
  }

  /// The number that a description begins with.
  private static func codes(in description: String?) -> [Int] {
    guard let text = description, text.hasPrefix("AADSTS") else { return [] }
    return Int(text.dropFirst("AADSTS".count).prefix { $0.isASCII && $0.isNumber }).map { [$0] } ?? []
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
    [.network, .serverError, .unhandledResponse, .noBroker, .brokerFailed].contains(code)
  }
}

extension IdentityError.Code {
  /// The table of MSAL for iOS and macOS; names are compared without regard to case.
  fileprivate init(refusal error: String, _ subError: String?, _ codes: [Int]) {
    let subError = subError?.lowercased()
    self =
      switch error.lowercased() {
      // Microsoft's own number for it, whatever the standard's word beside it is.
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
      // The standard's word, and Entra ID's own in the device flow.
      case "access_denied", "authorization_declined", "tokentransferfailedotc": .userCanceled
      case "server_error", "temporarily_unavailable": .serverError
      case "expired_token": .deviceCodeExpired
      default: .authorizationFailed
      }
  }
}
