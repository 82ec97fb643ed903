import BrowserSignIn
import Configuration
public import FoundationEssentials
import IdentityBroker
import IdentityClient
import Localization
public import TokenCache

/// What a sign-in asks for.
public struct SignInRequest: Sendable, Hashable {
  /// The client ID of the app; `nil` for that of the settings.
  public var clientID: String?
  /// The tenant; `nil` for that of the settings.
  public var tenant: String?
  /// The name of the account that has to sign in; `nil` for any.
  public private(set) var accountName: String?
  /// The app by its name where that is known, else its client ID.
  public private(set) var app: String?
  private(set) var accountID: String?
  /// The host of the cloud; `nil` for the authority of the settings.
  private(set) var environment: String?
  /// The scopes of the token; empty for those of the settings.
  private(set) var scopes: [String] = []
  /// The claims that the server asked for, in JSON.
  private(set) var claims: String?

  /// A sign-in of any account.
  public init() {}

  /// A sign-in of one account.
  init(accountID: String, name: String) { (self.accountID, accountName) = (accountID, name) }

  /// A sign-in that brings an app its tokens again.
  init(_ token: TokenEntry, accountName: String?, claims: String? = nil) {
    (clientID, app, tenant, environment) = (token.clientID, token.app, token.tenantID, token.environment)
    (accountID, scopes) = (token.homeAccountID, token.scopes)
    (self.accountName, self.claims) = (accountName.map { printable($0) }, claims)
  }
}

/// How a person signs in.
public enum SignInMethod: Sendable {
  case browser, deviceCode
}

/// What a sign-in waits for.
public enum SignInStep: Sendable {
  /// The page that is opened in the browser.
  case page(URL)
  /// The code that the person enters at a page, on any device.
  case code(String, page: URL, expiresOn: Date)
}

extension Keychain {
  /// The client ID of the settings.
  public var clientID: String? { settings.clientID }
  /// The tenant of the settings.
  public var tenant: String? { settings.tenant }
  /// Whether a sign-in with a code is possible: the identity broker supports none.
  public var supportsDeviceCodes: Bool { settings.broker != .required }

  /// Signs an account in, and stores its tokens in a group. The end of the task ends the wait.
  ///
  /// - Parameters:
  ///   - request: What to ask for.
  ///   - method: How the person signs in.
  ///   - group: The group that gets the tokens.
  ///   - show: Shows the person what the sign-in waits for.
  /// - Returns: The account's ID and name.
  /// - Throws: ``Trouble``.
  @concurrent public func signIn(
    _ request: SignInRequest, by method: SignInMethod, into group: KeychainGroup,
    showing show: @escaping @Sendable (SignInStep) async -> Void
  ) async throws(Trouble) -> (id: String, name: String) {
    var settings = settings
    do throws(ConfigurationError) {
      try settings.setClient(request.clientID ?? settings.clientID ?? "", tenant: request.tenant ?? "")
    } catch {
      throw Trouble(opening: error)
    }
    let cache = cache(of: group)
    let snapshot = try await snapshot(of: group)
    let account = request.accountID.flatMap { snapshot.account($0) }
    // Before the person signs in.
    try await calling { () async throws(CacheError) in
      if account == nil { try snapshot.checkComplete() }
      try await cache.prepareStore()
    }
    var (authority, trusted) = (Authority.default, self.authority)
    if let host = request.environment {
      authority = try self.authority(of: host, request.tenant, account: request.accountID, in: snapshot)
    } else {
      do throws(IdentityError) {
        authority = try settings.signInAuthority()
      } catch {
        throw Trouble(localized("Invalid Setting"), error.message, advice: error.advice)
      }
      trusted = authority
    }
    let asked = authority.scopesToRenew(request.scopes, of: request.clientID ?? "")
    let scopes = asked.isEmpty ? settings.signInScopes : asked
    let claims = request.claims.flatMap { try? ClaimsRequest(json: $0) }
    let client = try client(
      settings.clientID ?? "", authority, trusting: trusted, of: cache, authenticator: browser(show),
      broker: method == .browser ? settings.broker ?? .automatic : .off)
    let result: AuthenticationResult
    do throws(IdentityError) {
      switch method {
      case .browser:
        let prompt: Prompt = account == nil ? .selectAccount : .promptIfNecessary
        result = try await client.acquireToken(
          InteractiveRequest(scopes: scopes, account: account, prompt: prompt, claims: claims))
      case .deviceCode:
        var code = DeviceCodeRequest(scopes: scopes, claims: claims) {
          await show(.code($0.userCode, page: $0.verificationURI, expiresOn: $0.expiresOn))
        }
        code.account = account
        result = try await client.acquireToken(code)
      }
    } catch {
      throw Trouble(error)
    }
    if let error = result.cacheError { throw Trouble(error) }
    let id = result.account.homeAccountID
    return (id, printable(result.account.username ?? id))
  }

  /// A client of the window.
  func client(
    _ clientID: String, _ authority: Authority, trusting trusted: Authority?, of cache: TokenCacheAccessor,
    authenticator: (any WebAuthenticator)? = nil, broker: BrokerPolicy = .off
  ) throws(Trouble) -> PublicClient {
    var configuration = ClientConfiguration(
      program: "llavero-desktop", clientID: clientID, authority: authority, trusting: trusted)
    configuration.brokerPolicy = broker
    return PublicClient(
      configuration: configuration, cache: cache, transport: try network(), authenticator: authenticator,
      broker: broker == .off ? nil : LinuxBroker())
  }

  private func browser(
    _ show: @escaping @Sendable (SignInStep) async -> Void
  ) -> BrowserAuthenticator {
    let browser = SystemBrowser(environment: environment)
    return BrowserAuthenticator { page throws(IdentityError) in
      await show(.page(page.address))
      // A command that reports an error may have opened the page.
      try await browser.open(page.launchAddress)
    }
  }
}
