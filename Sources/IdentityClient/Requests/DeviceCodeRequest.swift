public import FoundationEssentials
public import TokenCache

/// A request for a token by a sign-in on another device (RFC 8628).
///
/// For example:
///
/// ```swift
/// let result = try await client.acquireToken(
///   DeviceCodeRequest(scopes: ["User.Read"]) { code in
///     print(code.message)
///   })
/// ```
public struct DeviceCodeRequest: Sendable {
  /// The requested scopes.
  public var scopes: [String]
  /// The account that has to sign in; `nil` for any.
  public var account: Account?
  public var claims: ClaimsRequest?
  /// The scheme of a token that is bound to a key; `nil` for a bearer token.
  public var authenticationScheme: PopScheme?
  public var extraQueryParameters: [String: String] = [:]
  /// The authority, in place of the configured one.
  public var authority: Authority?
  public var correlationID = UUID.random()
  /// Shows the user which page to open and which code to enter. Polling starts when it returns.
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

/// The instructions for a sign-in on another device.
public struct DeviceCode: Sendable, Hashable {
  /// The code to enter there.
  public let userCode: String
  /// The page to open, always https.
  public let verificationURI: URL
  /// The server's instructions without control characters, safe to print on a terminal.
  public let message: String
  /// When the code expires.
  public let expiresOn: Date
  /// The interval between polls.
  public let interval: Duration

  public init(userCode: String, verificationURI: URL, message: String, expiresOn: Date, interval: Duration) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.message = message
    self.expiresOn = expiresOn
    self.interval = interval
  }
}
