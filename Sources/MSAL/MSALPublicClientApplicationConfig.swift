public import Foundation
import HTTPSupport
import IdentityBroker
public import IdentityClient
import TokenCache

/// The configuration of an application.
///
/// For example:
///
/// ```swift
/// let config = MSALPublicClientApplicationConfig(
///   clientId: "11111111-2222-4333-8444-555555555555")
/// config.cacheConfig.keychainSharingGroup = "com.example.office"
/// let application = try MSALPublicClientApplication(
///   configuration: config)
/// ```
open class MSALPublicClientApplicationConfig: NSObject, NSCopying {
  /// The application's registered client ID.
  open var clientId: String
  /// The redirect URI, where the browser returns the response. `nil` is `http://localhost` with any free port, which has to be
  /// registered as a redirect URI of a mobile or desktop application. A scheme of the application's own, such as
  /// `msauth.com.example.mail://auth`, works, too, if the desktop has the program as its
  /// handler (`llavero scheme install`) and the program passes its argument to
  /// ``MSALPublicClientApplication/handleMSALResponse(_:sourceApplication:)``.
  ///
  /// With some, the machine's identity broker provides the tokens; see ``MSALRedirectUri/brokerCapable``.
  open var redirectUri: String?
  /// The client id of the host application that signs users in for this one (nested app
  /// authentication); empty without one. It is sent with every request as `brk_client_id`.
  open var nestedAuthBrokerClientId = ""
  /// The redirect URI of the host application, `brk_redirect_uri`. Sent only together with ``nestedAuthBrokerClientId``.
  open var nestedAuthBrokerRedirectUri: String?
  /// The authority that signs users in, unless a request names another one.
  open var authority: MSALAuthority = MSALAADAuthority(.default)
  /// Authorities that the application trusts without Microsoft's validation.
  open var knownAuthorities: [MSALAuthority] = []
  /// Whether an expired access token may be used while the token service is down, where the server allows it.
  open var extendedLifetimeEnabled = false
  /// The capabilities of the application, such as `CP1` for claims challenges.
  open var clientApplicationCapabilities: [String]?
  /// How many seconds before its expiry an access token counts as expired.
  open var tokenExpirationBuffer: Double = 300
  /// A part of the cloud to use, for Microsoft's own tests.
  open var sliceConfig: MSALSliceConfig?
  /// The configuration of the token cache.
  public private(set) var cacheConfig = MSALCacheConfig()
  /// Whether users of other clouds than the authority's may sign in.
  open var multipleCloudsSupported = false
  /// Has the keys that tokens of ``MSALAuthenticationSchemePop`` are bound to, such as `GroupKeys()` of the product
  /// `ProofOfPossession`. Without it requests with that scheme fail. MSAL for iOS and macOS needs none.
  open var popKeys: (any PopKeyProvider)?
  /// The only source of tokens if set, such as a `LoanBroker` of the product `Lending` for borrowed tokens.
  /// Then neither a server nor the machine's identity broker is asked, and no sign-in is possible. The cache may be
  /// unavailable. MSAL for iOS and macOS has no counterpart.
  open var tokenBroker: (any TokenBroker)?
  /// The machine's identity broker, replaced in tests.
  var broker = LinuxBroker()
  /// Whether a sign-in continues although this program is not the handler of the redirect URI's scheme; else it fails
  /// at once with ``MSALInternalError/internalErrorRedirectSchemeNotRegistered``. For programs that are
  /// started by another, such as a script. It also turns off the machine's identity broker.
  open var bypassRedirectURIValidation = false

  /// An application for work, school and personal accounts of the public cloud.
  public init(clientId: String) { self.clientId = clientId }

  /// An application with a redirect URI, if it has one, and an authority; `nil` is `https://login.microsoftonline.com/common`.
  public init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {
    self.clientId = clientId
    self.redirectUri = redirectUri
    if let authority { self.authority = authority }
  }

  /// As ``init(clientId:redirectUri:authority:)``, with the host application, if there is one: see ``nestedAuthBrokerClientId``
  /// and ``nestedAuthBrokerRedirectUri``.
  public init(
    clientId: String, redirectUri: String?, authority: MSALAuthority?, nestedAuthBrokerClientId: String?,
    nestedAuthBrokerRedirectUri: String?
  ) {
    self.clientId = clientId
    self.redirectUri = redirectUri
    if let authority { self.authority = authority }
    self.nestedAuthBrokerClientId = nestedAuthBrokerClientId ?? ""
    self.nestedAuthBrokerRedirectUri = nestedAuthBrokerRedirectUri
  }

  init(copying other: MSALPublicClientApplicationConfig) {
    clientId = other.clientId
    redirectUri = other.redirectUri
    authority = other.authority
    nestedAuthBrokerClientId = other.nestedAuthBrokerClientId
    nestedAuthBrokerRedirectUri = other.nestedAuthBrokerRedirectUri
    knownAuthorities = other.knownAuthorities
    extendedLifetimeEnabled = other.extendedLifetimeEnabled
    clientApplicationCapabilities = other.clientApplicationCapabilities
    tokenExpirationBuffer = other.tokenExpirationBuffer
    sliceConfig = other.sliceConfig.map { MSALSliceConfig(copying: $0) }
    cacheConfig = MSALCacheConfig(copying: other.cacheConfig)
    multipleCloudsSupported = other.multipleCloudsSupported
    popKeys = other.popKeys
    tokenBroker = other.tokenBroker
    broker = other.broker
    bypassRedirectURIValidation = other.bypassRedirectURIValidation
  }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALPublicClientApplicationConfig(copying: self) }
}

extension MSALPublicClientApplicationConfig {
  /// Makes the client of an application, by default with the library's own transport and authenticator.
  func client(
    _ transport: (any HTTPTransport)? = nil, _ authenticator: (any WebAuthenticator)? = nil
  ) throws -> PublicClient {
    PublicClient(
      configuration: try clientConfiguration(), cache: try cacheConfig.accessor(),
      transport: try transport ?? DefaultTransport(),
      authenticator: authenticator ?? defaultAuthenticator(self),
      popKeys: popKeys, broker: tokenBroker ?? broker, logger: MSALGlobalConfig.loggerConfig.logger(),
      timing: .system, httpSettings: currentHTTPSettings,
      mayAskBroker: { [hasTokenBroker = tokenBroker != nil] in
        hasTokenBroker || MSALGlobalConfig.brokerAvailability == .auto
      }, onBrowserEvent: postNotifications)
  }

  func clientConfiguration() throws -> ClientConfiguration {
    let redirectURI = try parsedRedirectURI()
    var configuration = ClientConfiguration(
      // The browser returns to http://localhost if the URI is for the broker alone.
      clientID: clientId, redirectURI: redirectURI?.isNativeClient == true ? nil : redirectURI?.url,
      authority: authority.authority,
      knownAuthorities: knownAuthorities.map(\.authority), capabilities: clientApplicationCapabilities ?? [])
    do { try configuration.checkClientID() } catch { throw NSError(error) }
    let isForBroker = redirectURI?.brokerCapable == true && !bypassRedirectURIValidation
    configuration.brokerPolicy = tokenBroker != nil ? .required : isForBroker ? .automatic : .off
    configuration.tokenExpirationBuffer = tokenExpirationBuffer
    configuration.extendedLifetimeEnabled = extendedLifetimeEnabled
    configuration.multipleCloudsSupported = multipleCloudsSupported
    configuration.extraQueryParameters = sliceConfig?.parameters ?? [:]
    if !nestedAuthBrokerClientId.isBlank {
      configuration.nestedAuthBroker = NestedAuthBroker(
        clientID: nestedAuthBrokerClientId, redirectURI: nestedAuthBrokerRedirectUri)
    }
    // The logger masks it by the configuration of that time.
    configuration.logsPersonalData = true
    configuration.applicationName = ProcessInfo.processInfo.processName
    return configuration
  }

  private func parsedRedirectURI() throws -> MSALRedirectUri? {
    guard let redirectUri = redirectUri.nonBlank else { return nil }
    // "msauth." lacks the application's name.
    guard let url = URL(string: redirectUri), let scheme = url.scheme, !scheme.hasSuffix(".") else {
      throw NSError(
        .internalErrorInvalidRedirectURI, "Invalid redirect URI \"\(redirectUri)\".",
        advice: "Leave it out for http://localhost, or use a scheme such as msauth.com.example.mail.")
    }
    return MSALRedirectUri(url: url)
  }
}

/// A part of the cloud, for Microsoft's own tests.
open class MSALSliceConfig: NSObject, NSCopying {
  /// The part; empty for none.
  open var slice: String
  /// The data center; empty for none.
  open var dc: String

  /// Makes a part. The result is never `nil`; the type is Apple's.
  public init?(slice: String?, dc: String?) {
    self.slice = slice ?? ""
    self.dc = dc ?? ""
  }

  init(copying other: MSALSliceConfig) {
    slice = other.slice
    dc = other.dc
  }

  /// The given values as parameters of a request.
  open var sliceDictionary: [AnyHashable: Any] { parameters }

  var parameters: [String: String] { ["slice": slice, "dc": dc].filter { !$0.value.isEmpty } }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALSliceConfig(copying: self) }
}

/// A redirect URI.
public final class MSALRedirectUri: MSALObject, NSCopying, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.

  /// The URI.
  public let url: URL

  /// Whether an application with it gets tokens from the machine's identity broker: the native client's
  /// `https://login.microsoftonline.com/common/oauth2/nativeclient`, and `msauth.<name>://auth`, which means the same.
  /// The native client's has to be registered for the application in any case; a broker on Linux uses it.
  public var brokerCapable: Bool { isNativeClient || isForBroker }

  /// The default redirect URI, `http://localhost`.
  public override convenience init() {
    self.init(url: URL(string: "http://localhost") ?? URL(filePath: "/"))
  }

  init(url: URL) { self.url = url }

  /// No browser can return to it.
  var isNativeClient: Bool {
    url.scheme?.lowercased() == "https" && url.path(percentEncoded: true) == "/common/oauth2/nativeclient"
  }

  private var isForBroker: Bool {
    let scheme = (url.scheme ?? "").lowercased()
    return scheme.hasPrefix("msauth.") && !scheme.hasSuffix(".") && url.host == "auth"
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
