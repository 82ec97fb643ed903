public import Foundation
import IdentityBroker
public import IdentityClient
import TokenCache

/// What an application is and how it wants to be served.
///
/// For example:
///
/// ```swift
/// let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
/// config.cacheConfig.keychainSharingGroup = "com.example.office"
/// let application = try MSALPublicClientApplication(configuration: config)
/// ```
open class MSALPublicClientApplicationConfig: NSObject, NSCopying {
  /// The application's id, as it was registered.
  open var clientId: String
  /// Where the browser hands over its answer. `nil` is `http://localhost` with any free port, which has to be
  /// registered as a redirect URI of a mobile or desktop application. A scheme of the application's own, such as
  /// `msauth.com.example.mail://auth`, works, too, where the desktop leads it to the program (`llavero scheme install`)
  /// and that hands what it is started with to
  /// ``MSALPublicClientApplication/handleMSALResponse(_:sourceApplication:)``.
  ///
  /// With some the machine's identity broker gives the tokens; see ``MSALRedirectUri/brokerCapable``.
  open var redirectUri: String?
  /// The client id of the application in which this one runs and which signs people in for it (nested app
  /// authentication); empty without one. Microsoft's services get it with every request as `brk_client_id`.
  open var nestedAuthBrokerClientId: String
  /// The redirect URI of that application, `brk_redirect_uri`. Sent only together with ``nestedAuthBrokerClientId``.
  open var nestedAuthBrokerRedirectUri: String?
  /// The authority that signs people in, unless a request names another one.
  open var authority: MSALAuthority
  /// Authorities of the application's own, which need no word of Microsoft's.
  open var knownAuthorities: [MSALAuthority] = []
  /// Whether an expired access token may be used while the token service is down, where the server allows it.
  open var extendedLifetimeEnabled = false
  /// What the application can deal with, such as `CP1` for claims challenges.
  open var clientApplicationCapabilities: [String]?
  /// How many seconds before its end an access token counts as expired.
  open var tokenExpirationBuffer: Double = 300
  /// A part of the cloud to use, for Microsoft's own tests.
  open var sliceConfig: MSALSliceConfig?
  /// Where tokens are kept.
  public let cacheConfig: MSALCacheConfig
  /// Whether the person may belong to another cloud than the authority's.
  open var multipleCloudsSupported = false
  /// Has the keys that tokens of ``MSALAuthenticationSchemePop`` are bound to, such as `GroupKeys()` of the product
  /// `ProofOfPossession`. Without it requests with that scheme fail. MSAL for iOS and macOS has its own at hand.
  open var popKeys: (any PopKeyProvider)?
  /// The only source of tokens if set, such as a `LoanBroker` of the product `Lending` for borrowed tokens.
  /// Requests then go neither to a server nor to the machine's identity broker, and no sign-in happens here. The cache may
  /// be out of reach. MSAL for iOS and macOS has nothing like it.
  open var tokenBroker: (any TokenBroker)?
  /// The machine's identity broker; tests have another one.
  var broker = LinuxBroker()
  /// Whether a sign-in goes on although the desktop does not lead the redirect URI's own scheme to this program; else it
  /// fails at once with ``MSALInternalError/internalErrorRedirectSchemeNotRegistered``. For programs that are started by
  /// way of another, such as a script. It keeps the application from the machine's identity broker, too.
  open var bypassRedirectURIValidation = false

  /// An application for work, school and personal accounts of the public cloud.
  public convenience init(clientId: String) {
    self.init(clientId: clientId, redirectUri: nil, authority: nil)
  }

  /// - Parameters:
  ///   - clientId: The application's id.
  ///   - redirectUri: Where the browser hands over its answer; see ``redirectUri``.
  ///   - authority: The authority that signs people in; `nil` is `https://login.microsoftonline.com/common`.
  public convenience init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {
    self.init(
      clientId: clientId, redirectUri: redirectUri, authority: authority, nestedAuthBrokerClientId: nil,
      nestedAuthBrokerRedirectUri: nil)
  }

  /// - Parameters:
  ///   - clientId: The application's id.
  ///   - redirectUri: Where the browser hands over its answer; see ``redirectUri``.
  ///   - authority: The authority that signs people in; `nil` is `https://login.microsoftonline.com/common`.
  ///   - nestedAuthBrokerClientId: The client id of the application in which this one runs, if it does.
  ///   - nestedAuthBrokerRedirectUri: The redirect URI of that application.
  public init(
    clientId: String, redirectUri: String?, authority: MSALAuthority?, nestedAuthBrokerClientId: String?,
    nestedAuthBrokerRedirectUri: String?
  ) {
    self.clientId = clientId
    self.redirectUri = redirectUri
    self.authority = authority ?? MSALAADAuthority(.default)
    self.nestedAuthBrokerClientId = nestedAuthBrokerClientId ?? ""
    self.nestedAuthBrokerRedirectUri = nestedAuthBrokerRedirectUri
    cacheConfig = MSALCacheConfig()
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
  /// The configuration for the client.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` when there is no client id, or the redirect URI is invalid.
  func clientConfiguration() throws -> ClientConfiguration {
    guard !clientId.isBlank else {
      throw NSError(
        .internalErrorInvalidParameter, "The application has no client id.",
        advice: "Take the application (client) id from its registration in Microsoft Entra.")
    }
    let redirectURI = try parsedRedirectURI().map(MSALRedirectUri.init)
    var configuration = ClientConfiguration(
      // The browser comes back to http://localhost where the URI is for the broker alone.
      clientID: clientId, redirectURI: redirectURI?.isNativeClient == true ? nil : redirectURI?.url,
      authority: authority.authority,
      knownAuthorities: knownAuthorities.map(\.authority), capabilities: clientApplicationCapabilities ?? [])
    configuration.brokerPolicy = brokerPolicy(redirectURI)
    configuration.tokenExpirationBuffer = tokenExpirationBuffer
    configuration.extendedLifetimeEnabled = extendedLifetimeEnabled
    configuration.multipleCloudsSupported = multipleCloudsSupported
    configuration.extraQueryParameters = sliceConfig?.parameters ?? [:]
    if !nestedAuthBrokerClientId.isBlank {
      configuration.nestedAuthBroker = NestedAuthBroker(
        clientID: nestedAuthBrokerClientId, redirectURI: nestedAuthBrokerRedirectUri)
    }
    // What hands its messages on masks it, as the configuration says at that time.
    configuration.logsPersonalData = true
    configuration.applicationName = ProcessInfo.processInfo.processName
    return configuration
  }

  private func brokerPolicy(_ redirectURI: MSALRedirectUri?) -> BrokerPolicy {
    if tokenBroker != nil { return .required }
    let isForBroker = redirectURI?.brokerCapable == true && !bypassRedirectURIValidation
    return isForBroker ? .automatic : .off
  }

  private func parsedRedirectURI() throws -> URL? {
    guard let redirectUri else { return nil }
    // "msauth." lacks the application's name.
    guard let url = URL(string: redirectUri), let scheme = url.scheme, !scheme.hasSuffix(".") else {
      throw NSError(
        .internalErrorInvalidRedirectURI, "\"\(redirectUri)\" is not a redirect URI.",
        advice: "Leave it out for http://localhost, or name a scheme such as msauth.com.example.mail.")
    }
    return url
  }
}

/// A part of the cloud, for Microsoft's own tests.
open class MSALSliceConfig: NSObject, NSCopying {
  /// The part; empty where none is named.
  open var slice: String
  /// The data center; empty where none is named.
  open var dc: String

  /// Names a part. The result is never `nil`; the type is Apple's.
  public init?(slice: String?, dc: String?) {
    self.slice = slice ?? ""
    self.dc = dc ?? ""
  }

  init(copying other: MSALSliceConfig) {
    slice = other.slice
    dc = other.dc
  }

  /// Both as the parameters of a request, those that are given.
  open var sliceDictionary: [AnyHashable: Any] { parameters }

  var parameters: [String: String] { ["slice": slice, "dc": dc].filter { !$0.value.isEmpty } }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALSliceConfig(copying: self) }
}

/// A redirect URI.
public final class MSALRedirectUri: NSObject, NSCopying, Sendable {
  /// The address.
  public let url: URL

  /// Whether an application with it gets tokens from the machine's identity broker: the native client's
  /// `https://login.microsoftonline.com/common/oauth2/nativeclient`, and `msauth.<name>://auth`, which stands for it.
  /// The native client's has to be registered for the application in any case; it is what a broker on Linux goes by.
  public var brokerCapable: Bool { isNativeClient || isForBroker }

  /// The redirect URI of an application that names none, `http://localhost`.
  public override convenience init() {
    self.init(url: URL(string: "http://localhost") ?? URL(filePath: "/"))
  }

  init(url: URL) {
    self.url = url
  }

  /// No browser can come back to it.
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
