import GLibSupport
import HTTPSupport
import IdentityClient
import TokenCache

/// The error in a broker's response.
///
/// The numbers are the statuses of Microsoft's MSAL runtime. What Entra ID said stands in a text, with the number after
/// AADSTS and the suberror.
struct BrokerRefusal {
  let status: Int
  /// What the broker says, without control characters and without tokens.
  let context: String?
  private let oauthError: String?
  private let subError: String?
  private let version: String?

  /// Reads a response; `nil` where it is not an error. A token of another account than was meant is one that the
  /// reader has to compare.
  init?(in fields: JSONObject) {
    let response = fields["brokerTokenResponse"]?.objectValue
    guard
      let error = [fields["error"], response?["error"]].lazy.compactMap(\.self).first(where: { $0 != .null })
    else { return nil }
    let members = error.objectValue ?? [:]
    status = members["status"]?.numberValue.flatMap(Int.init(exactly:)) ?? 0
    let switched: Set = [Status.userSwitch.rawValue, Status.accountSwitch.rawValue]
    if switched.contains(status), response?.text("accessToken") != nil { return nil }
    context = (members.text("context") ?? error.stringValue.nonBlank)?.withoutTokens.printable()
    let diagnostics = members["diagnostics"]?.objectValue
    oauthError = diagnostics?.text("raw_error_code") ?? context?.quoted(after: "Code: '")
    subError =
      response?.text("subError") ?? diagnostics?.text("oauth2_sub_error_code")
      ?? context?.quoted(after: "suberror: '")
    version = fields["telemetry"]?.objectValue?.text("broker_version")?.printable()
  }

  private enum Status: Int {
    case interactionRequired = 2
    case noNetwork = 3
    case networkTemporarilyUnavailable = 4
    case serverTemporarilyUnavailable = 5
    case userCanceled = 7
    case incorrectConfiguration = 9
    case authorityUntrusted = 11
    case userSwitch = 12
    case accountUnusable = 13
    case userDataRemovalRequired = 14
    case accountNotFound = 16
    case transientError = 17
    case accountSwitch = 18
    case deviceNotRegistered = 20
  }

  /// Whether the broker only has no account.
  var meansNoAccounts: Bool {
    if status == Status.accountNotFound.rawValue { return true }
    let words = context?.lowercased() ?? ""
    return status == 0 && (words.contains("find account") || words.contains("no account"))
  }

  var error: IdentityError {
    var error: IdentityError =
      switch Status(rawValue: status) {
      case .interactionRequired, .accountUnusable: refused("interaction_required", .interactionRequired)
      case .userDataRemovalRequired: removal
      case .accountNotFound: .unknownToBroker
      case .noNetwork: outage(HTTPTransportError.notConnected)
      case .networkTemporarilyUnavailable, .serverTemporarilyUnavailable, .transientError:
        outage(HTTPTransportError.cannotConnect)
      case .userCanceled: IdentityError(.userCanceled, "The sign-in was cancelled.")
      case .incorrectConfiguration, .authorityUntrusted: refused("invalid_request", .authorizationFailed)
      case .deviceNotRegistered: refused("interaction_required", .workplaceJoinRequired)
      // Also that the application cancelled the request: a caller that cancels does not wait for the response.
      default:
        IdentityError.brokerFailed(context ?? "its response has the status \(status) and no reason")
      }
    error.brokerVersion = version
    error.brokerStatus = status
    error.stsErrorCodes = context?.stsErrorCodes ?? []
    return error
  }

  private func outage(_ kind: (String) -> HTTPTransportError) -> IdentityError {
    var error = IdentityError(
      .network, "The identity broker cannot reach the server.", advice: "Try again later.")
    error.transportError = kind(error.message)
    return error
  }

  /// The server does not accept the account any more.
  private var removal: IdentityError {
    var error = refused("invalid_grant", .interactionRequired)
    (error.oauthError, error.subError) = ("invalid_grant", "user_account_deleted")
    return error
  }

  /// What the server said, by its own words where the broker hands them on.
  private func refused(_ otherwise: String, _ code: IdentityError.Code) -> IdentityError {
    var error = IdentityError(
      refusal: oauthError?.printable() ?? otherwise, subError: subError?.printable(),
      description: context, codes: context?.stsErrorCodes ?? [])
    error.code = code
    error.message =
      switch code {
      case .interactionRequired: "User interaction is required"
      case .workplaceJoinRequired: "The device must be registered with the organisation."
      default: context ?? "The identity broker refused the request."
      }
    if error.stsErrorCodes.contains(where: [50011, 500_112, 7_000_218].contains) {
      error.advice =
        "Register \(BrokerMethod.publicRedirectURI), in a national cloud with the host of its sign-in page, "
        + "as a redirect URI of the application, under \"Mobile and desktop applications\"."
    }
    return error
  }
}

extension IdentityError {
  static let unknownToBroker = IdentityError(
    .interactionRequired, "The identity broker does not know the account.",
    advice: "Sign in to the broker, as in the company's portal.")
}

extension String {
  /// The numbers after AADSTS, wherever they stand.
  fileprivate var stsErrorCodes: [Int] {
    var codes: [Int] = []
    var rest = self[...]
    while let mark = rest.firstRange(of: "AADSTS") {
      rest = rest[mark.upperBound...]
      if let code = Int(rest.prefix { $0.isASCII && $0.isNumber }), !codes.contains(code) {
        codes.append(code)
      }
    }
    return codes
  }

  /// What stands between a mark and the next apostrophe.
  fileprivate func quoted(after mark: String) -> String? {
    firstRange(of: mark).flatMap { Optional(String(self[$0.upperBound...].prefix { $0 != "'" })).nonBlank }
  }

  /// With what looks like a JSON Web Token left out.
  var withoutTokens: String {
    var text = ""
    var rest = self[...]
    while let mark = rest.firstRange(of: "eyJ") {
      text += rest[..<mark.lowerBound]
      let token = rest[mark.lowerBound...].prefix {
        $0.isASCII && ($0.isLetter || $0.isNumber || "-_.=".contains($0))
      }
      text += token.count > 20 ? "(token)" : String(token)
      rest = rest[token.endIndex...]
    }
    return text + rest
  }
}
