public import FoundationEssentials
public import TokenCache

/// Another source of tokens, such as the identity broker of a managed machine.
///
/// A client asks its broker after its cache and before its own refresh token; see ``BrokerPolicy``.
public protocol TokenBroker: Sendable {
  /// The broker's name, one word that is stored with its tokens.
  var name: String { get }

  /// Whether the broker may have tokens of an authority (default: Entra ID only).
  func serves(_ authority: Authority) -> Bool

  /// Whether the broker borrows its tokens from another process, which takes the account's lock itself to renew them
  /// (default: no). A client that requires such a broker does not take the lock.
  var borrowsTokens: Bool { get }

  /// Whether the broker is available.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed`` if that cannot be determined.
  func isAvailable() async throws(IdentityError) -> Bool

  /// Lists the accounts whose tokens a client can get silently, each once.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` without a broker, ``IdentityError/Code/brokerFailed`` for an
  ///   invalid response.
  func accounts(clientID: String, correlationID: UUID) async throws(IdentityError) -> [Account]

  /// Gets a token of the request's account without interaction.
  ///
  /// - Throws: ``IdentityError/Code/interactionRequired`` if the user has to sign in, ``IdentityError/Code/network`` if
  ///   the servers cannot be reached, ``IdentityError/Code/noBroker`` without a broker, and
  ///   ``IdentityError/Code/brokerFailed`` for an invalid response.
  func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken

  /// Whether the broker has a sign-in dialog of its own.
  ///
  /// - Throws: ``IdentityError/Code/brokerFailed`` if that cannot be determined.
  func supportsInteractiveSignIn(clientID: String, correlationID: UUID) async throws(IdentityError) -> Bool

  /// Gets a token by an interactive sign-in. The call has no timeout, and ends when the task is cancelled.
  ///
  /// - Throws: As ``tokenSilently(_:)``; also ``IdentityError/Code/userCanceled`` if the user cancelled the sign-in.
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
  /// Before it uses its own refresh token, which is the fallback.
  case automatic = "auto"
  /// Always and exclusively: the client sends no requests itself. An unavailable cache is not an error.
  case required = "only"
}

/// A request of a client to its broker.
public struct BrokerRequest: Sendable {
  public var clientID: String
  /// The issuing authority, with the tenant if it is known.
  public var authority: Authority
  /// The requested scopes.
  public var scopes: [String]
  /// The account. In an interactive request `nil` lets the user choose.
  public var account: Account?
  /// The user name to propose.
  public var loginHint: String?
  /// The prompt to show.
  public var prompt: Prompt
  /// The `claims` parameter, a JSON object.
  public var claims: String?
  /// Whether to bypass the broker's cached token.
  public var isForced: Bool
  /// The cached token to bypass, if the client knows it.
  public var tokenToReplace: String?
  /// The minimum remaining validity of the token, in seconds.
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

/// A broker's response: an access token and, if the broker names it, the account. It has no refresh token.
public struct BrokerToken: Sendable {
  public var accessToken: String
  public var expiresOn: Date
  /// The granted scopes, separated by spaces; `nil` means the requested ones.
  public var grantedScopes: String?
  /// A JSON Web Token.
  public var idToken: String?
  /// The account; `nil` means that of the request.
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
  /// The scopes, never the token to replace.
  public var description: String { "BrokerRequest(\(scopes.joined(separator: " ")))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BrokerToken: CustomStringConvertible, CustomReflectable {
  /// The granted scopes, never the token.
  public var description: String { "BrokerToken(\(grantedScopes ?? ""))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
