import GLibSupport

/// What lender and borrower say to each other: HTTP/1.1 over a Unix socket or a loopback port, in the words of App
/// Service's managed identities (`Documentation/Llavero.docc/LendTokens.md`).
package enum LoanProtocol {
  /// Gives a token.
  package static let tokenPath = "/token"
  /// Says what is lent, without a token.
  package static let loanPath = "/loan"
  /// The version of App Service's protocol. Every request for a token names it.
  package static let apiVersion = "2019-08-01"
  /// Has the secret that a lender on a port demands. One on a socket demands none.
  package static let secretHeader = "X-IDENTITY-HEADER"
  /// The host that a borrower on a socket names.
  package static let socketHost = "localhost"

  /// The parameters of a request for a token. Any other is refused.
  package enum Parameter: String, Sendable, CaseIterable {
    case apiVersion = "api-version"
    /// Means the scope `<resource>/.default`.
    case resource
    /// Separated by spaces, once or several times.
    case scope
    /// The loan's client or account. Anybody else's is refused.
    case clientID = "client_id"
    /// For how many seconds the token must be good at least.
    case minimumValidity = "min_validity"
    /// What a resource refused: ``LoanProtocol/hash(of:)``. MSAL's managed identity clients send it under this name.
    case refusedToken = "token_sha256_to_refresh"
    /// The client's capabilities, which MSAL's managed identity clients send. They change nothing here.
    case capabilities = "xms_cc"
  }

  /// Names an access token without giving it away: SHA-256, in lower-case hexadecimal digits.
  package static func hash(of accessToken: String) -> String { sha256Hex(accessToken) }
}

/// The answer to a request for a token.
package struct LentToken: Codable, Sendable, Equatable {
  package var accessToken: String
  /// When the token ends: seconds since 1970 in decimal digits.
  package var expiresOn: String
  package var tokenType: String
  /// The application that the token was issued to.
  package var clientID: String
  /// Where the token was asked for by it, or by `<resource>/.default`.
  package var resource: String?
  /// What the server granted, separated by spaces.
  package var scope: String
  package var username: String?
  package var homeAccountID: String
  package var tenantID: String?

  package enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
    case expiresOn = "expires_on"
    case tokenType = "token_type"
    case clientID = "client_id"
    case resource, scope, username
    case homeAccountID = "home_account_id"
    case tenantID = "tenant_id"
  }

  package init(
    accessToken: String, expiresOn: String, tokenType: String = "Bearer", clientID: String,
    resource: String? = nil, scope: String, username: String?, homeAccountID: String, tenantID: String?
  ) {
    self.accessToken = accessToken
    self.expiresOn = expiresOn
    self.tokenType = tokenType
    self.clientID = clientID
    self.resource = resource
    self.scope = scope
    self.username = username
    self.homeAccountID = homeAccountID
    self.tenantID = tenantID
  }
}

/// The answer to the question what is lent.
package struct LoanDescription: Codable, Sendable, Equatable {
  /// Each is the scopes of one token, separated by spaces, in the lender's words.
  package var scopes: [String]
  package var clientID: String
  /// Who issues the tokens: an address such as `https://login.microsoftonline.com/common`.
  package var authority: String
  /// The host of the account's cloud, as caches keep it.
  package var environment: String
  package var username: String?
  package var homeAccountID: String
  package var tenantID: String?
  /// When the loan ends: seconds since 1970 in decimal digits.
  package var expiresOn: String

  package enum CodingKeys: String, CodingKey {
    case scopes, authority, environment, username
    case clientID = "client_id"
    case homeAccountID = "home_account_id"
    case tenantID = "tenant_id"
    case expiresOn = "expires_on"
  }

  package init(
    scopes: [String], clientID: String, authority: String, environment: String, username: String?,
    homeAccountID: String, tenantID: String?, expiresOn: String
  ) {
    self.scopes = scopes
    self.clientID = clientID
    self.authority = authority
    self.environment = environment
    self.username = username
    self.homeAccountID = homeAccountID
    self.tenantID = tenantID
    self.expiresOn = expiresOn
  }
}

/// The answer where there is no token.
package struct LoanRefusal: Codable, Sendable, Equatable, Error {
  /// Why, in the words of OAuth where it has one.
  package enum Code: String, Codable, Sendable, CaseIterable {
    /// The request is invalid: 400; 404 for another path, 405 for another method.
    case invalidRequest = "invalid_request"
    /// The secret is missing or wrong: 401.
    case invalidClient = "invalid_client"
    /// The `client_id` of another client: 403.
    case unauthorizedClient = "unauthorized_client"
    /// Not lent: 403.
    case invalidScope = "invalid_scope"
    /// Another user, a web page, a declined borrower, or the loan has ended: 403.
    case accessDenied = "access_denied"
    /// The lender's person has to sign in, or to unlock something: 400, so that clients do not repeat the request.
    case interactionRequired = "interaction_required"
    /// No token could be had that is good for as long as `min_validity` says: 400.
    case shortLived = "short_lived"
    /// The lender cannot reach who renews tokens: 503 with `Retry-After`.
    case temporarilyUnavailable = "temporarily_unavailable"
    /// The lender failed: 500.
    case serverError = "server_error"
  }

  /// One of ``Code``, unless the lender is of another version.
  package var error: String
  package var description: String
  /// The same for the clients of managed identities, which show this member alone.
  package private(set) var message: String?
  package var statusCode: Int

  package var code: Code? { Code(rawValue: error) }

  package enum CodingKeys: String, CodingKey {
    case error, message, statusCode
    case description = "error_description"
  }

  package init(_ code: Code, _ statusCode: Int, _ description: String) {
    error = code.rawValue
    self.description = description
    message = description
    self.statusCode = statusCode
  }
}
