public import FoundationEssentials
public import TokenCache

/// What the server asks the person during the sign-in.
public enum Prompt: String, Sendable, Hashable, CaseIterable {
  /// The person chooses an account, even if there is only one.
  case selectAccount = "select_account"
  /// The person enters the password again.
  case login
  /// The person consents again.
  case consent
  /// The person makes a new account.
  case create
  /// Nothing that can be done without.
  case promptIfNecessary = ""
}

/// A request for a token for which a person signs in, in a browser.
public struct InteractiveRequest: Sendable {
  /// What the token is for. `openid`, `profile` and `offline_access` are asked for in any case.
  public var scopes: [String]
  /// Scopes to consent to along with it; the token is not for them.
  public var extraScopesToConsent: [String] = []
  /// The account that must be signed in, where it is known.
  public var account: Account?
  /// The user name to propose. Not sent with ``Prompt/selectAccount``: Entra ID refuses the two together (AADSTS90023).
  public var loginHint: String?
  /// `organizations`, `consumers` or the domain that the person belongs to.
  public var domainHint: String?
  public var prompt: Prompt
  /// Whether the person is offered to sign in by a QR code and a PIN, where the organisation allows that.
  public var prefersQRCodeAndPIN = false
  /// Whether the page opens in a private window: without the browser's sessions, and forgotten afterwards. A browser
  /// that cannot be asked for one opens it in the person's own session, which the log says.
  public var prefersEphemeralSession = false
  public var claims: ClaimsRequest?
  /// For a token that is bound to a key; `nil` for a bearer token.
  public var authenticationScheme: PopScheme?
  public var extraQueryParameters: [String: String] = [:]
  /// The authority to ask in place of the configured one.
  public var authority: Authority?
  public var correlationID = UUID.random()
  /// How long to wait for the browser's response.
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
