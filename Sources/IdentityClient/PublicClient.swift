public import FoundationEssentials
public import HTTPTransport
public import Logging
public import TokenCache

/// Signs people in to a client application without a secret of its own, and keeps their tokens fresh.
///
/// For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: ClientConfiguration(clientID: "…"), cache: TokenCacheAccessor(store: KeyringStore()),
///   transport: SoupTransport())
/// let result = try await client.acquireToken(DeviceCodeRequest(scopes: ["User.Read"]) { print($0.message) })
/// ```
public final class PublicClient: Sendable {
  public let configuration: ClientConfiguration
  public let cache: TokenCacheAccessor

  /// - Parameters:
  ///   - configuration: What the application is.
  ///   - cache: Where its tokens are kept.
  ///   - transport: Sends its requests.
  ///   - authenticator: Opens the browser; `nil` for a program without one.
  ///   - logger: Told what happens. Personal data is masked unless the configuration says otherwise.
  ///   - now: The clock.
  public init(
    configuration: ClientConfiguration, cache: TokenCacheAccessor, transport: any HTTPTransport,
    authenticator: (any WebAuthenticator)? = nil,
    logger: Logger = Logger(label: "llavero.identity", factory: { _ in SwiftLogNoOpLogHandler() }),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.configuration, self.cache) = (configuration, cache)
  }

  /// Gets a token by having a person sign in in a browser: authorization code with PKCE (RFC 7636, RFC 8252).
  ///
  /// - Throws: ``IdentityError``.
  public func acquireToken(_ request: InteractiveRequest) async throws(IdentityError) -> AuthenticationResult {
    throw IdentityError(.unexpected, "")
  }

  /// Gets a token of an account that is signed in, from the cache or by a refresh token.
  ///
  /// - Throws: ``IdentityError``; ``IdentityError/Code/interactionRequired`` when the person has to sign in.
  public func acquireTokenSilent(_ request: SilentRequest) async throws(IdentityError) -> AuthenticationResult {
    throw IdentityError(.unexpected, "")
  }

  /// Gets a token by having a person sign in on another device (RFC 8628).
  ///
  /// - Throws: ``IdentityError``.
  public func acquireToken(_ request: DeviceCodeRequest) async throws(IdentityError) -> AuthenticationResult {
    throw IdentityError(.unexpected, "")
  }

  /// Lists accounts, those that are signed in to this client unless the filter says otherwise.
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  public func accounts(_ filter: AccountFilter = AccountFilter()) async throws(IdentityError) -> [Account] {
    throw IdentityError(.unexpected, "")
  }

  /// Signs an account out of this client. Other clients of the group keep their tokens.
  ///
  /// - Throws: ``IdentityError/Code/cache``.
  public func remove(_ account: Account) async throws(IdentityError) {
    throw IdentityError(.unexpected, "")
  }

  /// Signs an account out of this client, and of more where that is asked for.
  ///
  /// - Throws: ``IdentityError``. What goes from the cache goes before the browser is asked.
  public func signOut(
    _ account: Account, _ options: SignOutOptions = SignOutOptions()
  ) async throws(IdentityError) {
    throw IdentityError(.unexpected, "")
  }

  /// Takes the answer that came to a scheme of the application's own.
  ///
  /// - Returns: Whether a sign-in waited for it.
  @discardableResult
  public func handleRedirect(_ url: URL) -> Bool { false }
}
