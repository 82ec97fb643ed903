public import FoundationEssentials
public import TokenCache

/// A request for a token for which a person signs in on another device (RFC 8628).
public struct DeviceCodeRequest: Sendable {
  /// What the token is for.
  public var scopes: [String]
  /// The account that has to sign in; `nil` for any.
  public var account: Account?
  public var claims: ClaimsRequest?
  /// For a token that is bound to a key; `nil` for a bearer token.
  public var authenticationScheme: PopScheme?
  public var extraQueryParameters: [String: String] = [:]
  /// The authority to ask in place of the configured one.
  public var authority: Authority?
  public var correlationID = UUID.random()
  /// Shows the person where to go and what to enter. The wait begins when it returns.
  public var show: @Sendable (DeviceCode) async -> Void

  public init(
    scopes: [String], claims: ClaimsRequest? = nil, authority: Authority? = nil,
    show: @escaping @Sendable (DeviceCode) async -> Void
  ) {
    self.scopes = scopes
    self.claims = claims
    self.authority = authority
    self.show = show
  }
}

/// What a person needs to sign in on another device.
public struct DeviceCode: Sendable, Hashable {
  /// The code to enter there.
  public let userCode: String
  /// The page to open, always https.
  public let verificationURI: URL
  /// The server's instructions without control characters, safe to print on a terminal.
  public let message: String
  /// Until when the code can be entered.
  public let expiresOn: Date
  /// How long to wait between two polls.
  public let interval: Duration

  public init(userCode: String, verificationURI: URL, message: String, expiresOn: Date, interval: Duration) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.message = message
    self.expiresOn = expiresOn
    self.interval = interval
  }
}
