import GLibSupport
import TokenCache

/// What lender and borrower send each other: HTTP/1.1 over a Unix socket or a loopback port, in the terms of App
/// Service's managed identities (`Documentation/Llavero.docc/LendTokens.md`).
enum LoanProtocol {
  /// Gives a token.
  static let tokenPath = "/token"
  /// Gives the terms of the loan, without a token.
  static let loanPath = "/loan"
  static let paths = [tokenPath, loanPath]
  /// The version of App Service's protocol. Every request for a token names it.
  static let apiVersion = "2019-08-01"
  /// Has the secret that a lender on a port demands. One on a socket demands none.
  static let secretHeader = "X-IDENTITY-HEADER"
  /// The host that a borrower on a socket names.
  static let socketHost = "localhost"

  /// The parameters of a request for a token. Any other is refused.
  enum Parameter: String, Sendable, CaseIterable {
    case apiVersion = "api-version"
    /// Means the scope `<resource>/.default`.
    case resource
    /// Separated by spaces, once or several times.
    case scope
    /// The loan's client or account. Any other is refused.
    case clientID = "client_id"
    /// For how many seconds the token must be valid at least.
    case minimumValidity = "min_validity"
    /// What a resource refused: ``LoanProtocol/hash(of:)``. MSAL's managed identity clients send it under this name.
    case refusedToken = "token_sha256_to_refresh"
    /// The client's capabilities, which MSAL's managed identity clients send. They change nothing here.
    case capabilities = "xms_cc"
  }

  /// Identifies an access token without disclosing it: SHA-256, in lower-case hexadecimal digits.
  static func hash(of accessToken: String) -> String { sha256Hex(accessToken) }
}

/// The response where there is no token.
struct LoanRefusal: Sendable, Equatable, Error {
  /// Why, by the names of OAuth where it has one.
  enum Code: String, Sendable, CaseIterable {
    /// The request is invalid.
    case invalidRequest = "invalid_request"
    /// The secret is missing or wrong.
    case invalidClient = "invalid_client"
    /// The `client_id` of another client.
    case unauthorizedClient = "unauthorized_client"
    /// Not lent.
    case invalidScope = "invalid_scope"
    /// Another user, a web page, a declined borrower, or the loan has ended.
    case accessDenied = "access_denied"
    /// The lender's user has to sign in, or to unlock something.
    case interactionRequired = "interaction_required"
    /// No token is valid for as long as `min_validity` demands.
    case shortLived = "short_lived"
    /// The lender cannot reach the server that renews tokens. The response has `Retry-After`.
    case temporarilyUnavailable = "temporarily_unavailable"
    /// The lender failed.
    case serverError = "server_error"

    /// The status of a refusal that names none. Clients do not repeat a request after 400.
    fileprivate var statusCode: Int {
      switch self {
      case .invalidRequest, .interactionRequired, .shortLived: 400
      case .invalidClient: 401
      case .unauthorizedClient, .invalidScope, .accessDenied: 403
      case .serverError: 500
      case .temporarilyUnavailable: 503
      }
    }
  }

  let code: Code
  let statusCode: Int
  let description: String

  /// Makes a refusal, by default with its code's status.
  init(_ code: Code, _ description: String, statusCode: Int? = nil) {
    self.code = code
    self.statusCode = statusCode ?? code.statusCode
    self.description = description
  }

  static let ended = LoanRefusal(.accessDenied, "The loan has ended.")

  /// The description stands there twice: clients of managed identities show `message` alone.
  var response: JSONObject {
    [
      "error": .string(code.rawValue), "error_description": .string(description),
      "message": .string(description), "statusCode": .integer(Int64(statusCode)),
    ]
  }

  var fields: [(name: String, value: String)] {
    switch statusCode {
    case 405: [("Allow", "GET")]
    case 503: [("Retry-After", "10")]
    default: []
    }
  }
}
