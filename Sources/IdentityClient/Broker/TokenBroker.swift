public import FoundationEssentials
public import TokenCache

/// Another source of tokens, such as the identity broker of a managed machine.
///
/// A client asks its broker after its cache and before its own refresh token; see ``BrokerPolicy``.
public protocol TokenBroker: Sendable {
  /// One word for who gives the tokens. It is kept with them in the cache.
  var name: String { get }

  /// Whether it may have tokens of an authority. Unless it says otherwise these are the ones of Entra ID alone.
  func serves(_ authority: Authority) -> Bool

  /// Whether it borrows its tokens from another process, which waits for the account's turn when it renews them. A client
  /// that asks nothing else leaves the turn to that process. Unless it says otherwise it does not borrow.
  var borrowsTokens: Bool { get }

  /// Whether the broker can be asked.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed`` when that cannot be found out.
  func isAvailable() async throws(IdentityError) -> Bool

  /// The accounts whose tokens are available silently to a client, each once.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` without a broker, ``IdentityError/Code/brokerFailed`` for whatever
  ///   is not a valid response.
  func accounts(clientID: String, correlationID: UUID) async throws(IdentityError) -> [Account]

  /// Gets a token of the request's account without a person.
  ///
  /// - Throws: ``IdentityError/Code/interactionRequired`` when a person has to sign in, ``IdentityError/Code/network``
  ///   when the servers cannot be asked, ``IdentityError/Code/noBroker`` without a broker, and
  ///   ``IdentityError/Code/brokerFailed`` for whatever is not a valid response.
  func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken

  /// Whether the broker can ask a person to sign in, in a manner of its own.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed`` when that cannot be found out.
  func supportsInteractiveSignIn(clientID: String, correlationID: UUID) async throws(IdentityError) -> Bool

  /// Gets a token for which a person signs in. It takes as long as the person does, and ends with the task.
  ///
  /// - Throws: As ``tokenSilently(_:)``; also ``IdentityError/Code/userCanceled`` when the person gave up.
  func tokenInteractively(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken
}

extension TokenBroker {
  public func serves(_ authority: Authority) -> Bool { authority.kind == .aad }
  public var borrowsTokens: Bool { false }
}

/// When a client asks its broker for tokens.
public enum BrokerPolicy: String, Sendable, Hashable, CaseIterable {
  /// Never.
  case off
  /// Before its own refresh token, which serves when the broker does not.
  case automatic = "auto"
  /// Always, and nothing else: the client sends nothing itself. An unavailable cache is not an error.
  case required = "only"
}

/// What a client asks its broker for.
public struct BrokerRequest: Sendable {
  public var clientID: String
  /// Who issues the token, with the tenant where it is known.
  public var authority: Authority
  /// What the token is for.
  public var scopes: [String]
  /// Whose token it is. `nil` in an interactive request leaves that to the person.
  public var account: Account?
  /// The user name to propose.
  public var loginHint: String?
  /// What the person is to be asked.
  public var prompt: Prompt
  /// The `claims` parameter, a JSON object.
  public var claims: String?
  /// Whether the token that the broker has does not do any more.
  public var isForced: Bool
  /// That token, where the client knows it.
  public var tokenToReplace: String?
  /// For how many seconds the token should be good at least.
  public var minimumValidity: Double
  /// The redirect URI of the client.
  public var redirectURI: URL?
  public var extraQueryParameters: [String: String]
  public var correlationID: UUID

  public init(
    clientID: String, authority: Authority, scopes: [String], account: Account? = nil,
    loginHint: String? = nil, prompt: Prompt = .promptIfNecessary, claims: String? = nil,
    isForced: Bool = false, tokenToReplace: String? = nil, minimumValidity: Double = 0,
    redirectURI: URL? = nil, extraQueryParameters: [String: String] = [:],
    correlationID: UUID
  ) {
    self.clientID = clientID
    self.authority = authority
    self.scopes = scopes
    self.account = account
    self.loginHint = loginHint
    self.prompt = prompt
    self.claims = claims
    self.isForced = isForced
    self.tokenToReplace = tokenToReplace
    self.minimumValidity = minimumValidity
    self.redirectURI = redirectURI
    self.extraQueryParameters = extraQueryParameters
    self.correlationID = correlationID
  }
}

/// What a broker gave: an access token, and whose it is as far as the broker says so. There is no refresh token.
public struct BrokerToken: Sendable {
  public var accessToken: String
  public var expiresOn: Date
  /// The scopes granted, separated by spaces; `nil` means those asked for.
  public var grantedScopes: String?
  /// A JSON Web Token.
  public var idToken: String?
  /// The account, `nil` when the broker leaves that to the request.
  public var account: Account?

  public init(
    accessToken: String, expiresOn: Date, grantedScopes: String? = nil, idToken: String? = nil,
    account: Account? = nil
  ) {
    self.accessToken = accessToken
    self.expiresOn = expiresOn
    self.grantedScopes = grantedScopes
    self.idToken = idToken
    self.account = account
  }
}

extension BrokerRequest: CustomStringConvertible, CustomReflectable {
  /// What the token is for; never the token to replace.
  public var description: String { "BrokerRequest(\(scopes.joined(separator: " ")))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BrokerToken: CustomStringConvertible, CustomReflectable {
  /// What the token is for; never the token.
  public var description: String { "BrokerToken(\(grantedScopes ?? ""))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
