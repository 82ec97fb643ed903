public import FoundationEssentials

/// An application in which another one runs and signs people in: a host such as Teams.
public struct NestedAuthBroker: Sendable, Hashable {
  /// The client id of the host, `brk_client_id`.
  public var clientID: String
  /// The redirect URI of the host, `brk_redirect_uri`.
  public var redirectURI: String?

  public init(clientID: String, redirectURI: String? = nil) {
    self.clientID = clientID
    self.redirectURI = redirectURI
  }
}

/// What a client application is, and how it wants to be served.
public struct ClientConfiguration: Sendable {
  /// The application's id, as it was registered.
  public var clientID: String
  /// Where the browser hands over its response. `nil` is `http://localhost` with any free port.
  public var redirectURI: URL?
  /// The authority that signs people in, unless a request names another one.
  public var authority: Authority
  /// Authorities of Entra ID's form outside of Microsoft's clouds, for which Microsoft does not vouch. One of another kind, such as
  /// AD FS or OpenID Connect, is trusted wherever a request names it: take none from what a server or a file says.
  public var knownAuthorities: [Authority]
  /// What the client can deal with, such as `CP1` for claims challenges.
  public var capabilities: [String]
  /// How many seconds before its end an access token counts as expired.
  public var tokenExpirationBuffer: Double = 300
  /// Whether an expired access token may be used while the token service is down, where the server allows it.
  public var extendedLifetimeEnabled = false
  /// When the client's broker is asked for tokens. Without a broker only ``BrokerPolicy/required`` makes a difference.
  public var brokerPolicy = BrokerPolicy.automatic
  /// Whether the person may belong to another cloud than the authority's.
  public var multipleCloudsSupported = false
  /// The application that this one is nested in (nested app authentication), which Microsoft's services are told.
  public var nestedAuthBroker: NestedAuthBroker?
  /// Parameters that every request carries.
  public var extraQueryParameters: [String: String] = [:]
  /// How often a request that failed at the server or on the way is sent again.
  public var httpRetryCount = 1
  /// How long to wait before that.
  public var httpRetryInterval: Duration = .milliseconds(500)
  /// How long one request may take with its repetitions, and a silent call with all of its requests.
  public var httpTimeout: Duration = .seconds(300)
  /// Whether Microsoft is asked about unknown authorities.
  public var validateAuthority = true
  /// Whether user names, account ids and tenants may stand in the log. Tokens never do.
  public var logsPersonalData = false
  /// The application's name and version, which the server's operators see.
  public var applicationName: String?
  public var applicationVersion: String?

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
