public import FoundationEssentials
public import TokenCache

/// How the server prompts the user during the sign-in.
public enum Prompt: String, Sendable, Hashable, CaseIterable {
  /// The user chooses an account, even if there is only one.
  case selectAccount = "select_account"
  /// The user enters the password again.
  case login
  /// The user consents again.
  case consent
  /// The user creates an account.
  case create
  /// Only if necessary.
  case promptIfNecessary = ""
}

/// A request for a token by a sign-in in the browser.
///
/// For example:
///
/// ```swift
/// let result = try await client.acquireToken(
///   InteractiveRequest(
///     scopes: ["User.Read"], prompt: .selectAccount))
/// ```
public struct InteractiveRequest: Sendable {
  /// The requested scopes. `openid`, `profile` and `offline_access` are always added.
  public var scopes: [String]
  /// Further scopes for consent. The token does not include them.
  public var extraScopesToConsent: [String] = []
  /// The account that must sign in; `nil` for any.
  public var account: Account?
  /// The user name to propose. Not sent with ``Prompt/selectAccount``: Entra ID refuses the two together (AADSTS90023).
  public var loginHint: String?
  /// `organizations`, `consumers` or the user's domain.
  public var domainHint: String?
  public var prompt: Prompt
  /// Whether to offer a sign-in by QR code and PIN, if the organisation allows that.
  public var prefersQRCodeAndPIN = false
  /// Whether to use a private window, which has no sessions and keeps none. A browser without support for it uses its
  /// normal session, which is logged.
  public var prefersEphemeralSession = false
  public var claims: ClaimsRequest?
  /// The scheme of a token that is bound to a key; `nil` for a bearer token.
  public var authenticationScheme: PopScheme?
  public var extraQueryParameters: [String: String] = [:]
  /// The authority, in place of the configured one.
  public var authority: Authority?
  public var correlationID = UUID.random()
  /// The timeout for the browser's response.
  public var timeout: Duration = .seconds(300)

  public init(
    scopes: [String], account: Account? = nil, loginHint: String? = nil,
    prompt: Prompt = .promptIfNecessary, claims: ClaimsRequest? = nil, authority: Authority? = nil
  ) {
    self.scopes = scopes
    self.account = account
    self.loginHint = loginHint
    self.prompt = prompt
    self.claims = claims
    self.authority = authority
  }
}
