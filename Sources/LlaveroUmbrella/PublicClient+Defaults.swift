public import FoundationEssentials
public import Logging

extension PublicClient {
  /// Makes a client with the defaults of the tool `llavero`, so that both share a sign-in.
  ///
  /// For example:
  ///
  /// ```swift
  /// let client = try PublicClient(clientID: clientID)
  /// let result = try await client.token(for: ["User.Read"])
  /// ```
  ///
  /// - Parameters:
  ///   - clientID: The application's id, as it was registered.
  ///   - authority: The authority that signs people in, which is trusted also outside of Microsoft's clouds. By
  ///     default any work, school or personal account can sign in.
  ///   - redirectURI: Where the browser hands over its response. `nil` is `http://localhost` with any free port.
  ///   - capabilities: What the program can deal with, such as `CP1` for claims challenges.
  ///   - cache: Where the tokens are kept; by default in the keyring, in the default group.
  ///   - transport: Sends the requests. `nil` is libsoup with the environment's proxy (`https_proxy`) and certificates
  ///     (`LLAVERO_CA_BUNDLE`).
  ///   - authenticator: Opens the browser; by default the system's.
  ///   - broker: Gives tokens, too; by default the identity broker of a managed machine.
  ///   - logger: Told what happens, without personal data.
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an empty client ID, ``IdentityError/Code/network`` for a
  ///   proxy or certificates that cannot be used.
  public convenience init(
    clientID: String, authority: Authority = .default, redirectURI: URL? = nil, capabilities: [String] = [],
    cache: TokenCacheAccessor = TokenCacheAccessor(store: KeyringCacheStore()),
    transport: (any HTTPTransport)? = nil,
    authenticator: (any WebAuthenticator)? = BrowserAuthenticator(),
    broker: (any TokenBroker)? = LinuxBroker(),
    logger: Logger = Logger(label: "llavero.identity", factory: { _ in SwiftLogNoOpLogHandler() })
  ) throws(IdentityError) {
    let configuration = ClientConfiguration(
      clientID: clientID, redirectURI: redirectURI, authority: authority, knownAuthorities: [authority],
      capabilities: capabilities)
    try configuration.checkClientID()
    let sender: any HTTPTransport
    do throws(HTTPTransportError) {
      if let transport {
        sender = transport
      } else {
        sender = try SoupHTTPTransport(environment: ProcessInfo.processInfo.environment)
      }
    } catch {
      throw IdentityError(transport: error)
    }
    self.init(
      configuration: configuration, cache: cache, transport: sender, authenticator: authenticator,
      broker: broker, logger: logger)
  }
}
