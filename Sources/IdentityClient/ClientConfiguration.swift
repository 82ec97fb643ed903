public import FoundationEssentials
import TokenCache

/// A host application, such as Teams, in which another application runs and signs users in.
public struct NestedAuthBroker: Sendable, Hashable {
  /// The client ID of the host, `brk_client_id`.
  public var clientID: String
  /// The redirect URI of the host, `brk_redirect_uri`.
  public var redirectURI: String?

  /// Creates a host from its client ID and, if it has one, its redirect URI.
  public init(clientID: String, redirectURI: String? = nil) {
    self.clientID = clientID
    self.redirectURI = redirectURI
  }
}

/// The identity and the preferences of a client application.
///
/// For example:
///
/// ```swift
/// let configuration = ClientConfiguration(
///   clientID: clientID,
///   authority: try Authority(
///     "https://login.microsoftonline.com/contoso.com"),
///   capabilities: ["CP1"])
/// ```
public struct ClientConfiguration: Sendable {
  /// The application's registered ID.
  public var clientID: String
  /// The redirect URI for the browser's response. `nil` is `http://localhost` with any free port.
  public var redirectURI: URL?
  /// The authority for requests that name no other.
  public var authority: Authority
  /// Trusted authorities of Entra ID's form outside of Microsoft's clouds. An authority of another kind, such as AD FS
  /// or OpenID Connect, is trusted wherever a request names it: never take one from a server or a file.
  public var knownAuthorities: [Authority]
  /// The client's capabilities, such as `CP1` for claims challenges.
  public var capabilities: [String]
  /// How many seconds before its expiry an access token counts as expired.
  public var tokenExpirationBuffer: Double = 300
  /// Whether an expired access token may be used while the token service is down, if the server allows that.
  public var extendedLifetimeEnabled = false
  /// When the client asks its broker for tokens. Without a broker only ``BrokerPolicy/required`` has an effect.
  public var brokerPolicy = BrokerPolicy.automatic
  /// Whether users of other clouds than the authority's may sign in.
  public var multipleCloudsSupported = false
  /// The host of this application (nested app authentication), which is sent to Microsoft's services.
  public var nestedAuthBroker: NestedAuthBroker?
  /// Parameters that are added to every request.
  public var extraQueryParameters: [String: String] = [:]
  /// How often a request is retried after a server or network failure.
  public var httpRetryCount = 1
  /// The pause before a retry.
  public var httpRetryInterval: Duration = .milliseconds(500)
  /// The timeout of one request with its retries, and of a silent call with all its requests.
  public var httpTimeout: Duration = .seconds(300)
  /// Whether to validate unknown authorities with Microsoft.
  public var validateAuthority = true
  /// Whether user names, account IDs and tenants may be logged. Tokens never are.
  public var logsPersonalData = false
  /// The application's name, for the server's operators.
  public var applicationName: String?
  /// The application's version, for the server's operators.
  public var applicationVersion: String?

  /// Creates a configuration with defaults, which can be changed until a client is made.
  public init(
    clientID: String, redirectURI: URL? = nil, authority: Authority = .default,
    knownAuthorities: [Authority] = [], capabilities: [String] = []
  ) {
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.authority = authority
    self.knownAuthorities = knownAuthorities
    self.capabilities = capabilities
  }
}

extension ClientConfiguration {
  /// Rejects an empty client ID, which a server would reject only on the sign-in page.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter``.
  package func checkClientID() throws(IdentityError) {
    guard Optional(clientID).nonBlank == nil else { return }
    throw IdentityError(
      .invalidParameter, "The application has no client ID.",
      advice: "Take the application (client) id from its registration in Microsoft Entra.")
  }
}
