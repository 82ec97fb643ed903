public import Foundation
import IdentityClient
import MSALExtensionsStore

/// Parameters of every call.
open class MSALParameters: NSObject {
  /// The queue of the completion block. By default, sign-in and sign-out call it on the main queue, silent requests on one
  /// of the library's queues, and calls that use the cache alone before they return.
  ///
  /// A program whose main thread runs GLib's main loop (GTK, for instance) does not serve the main queue: it sets
  /// this or uses the async methods.
  open var completionBlockQueue: DispatchQueue?

  /// Makes parameters with the defaults.
  public override init() {}
}

/// Parameters of every request for a token. Programs use its subclasses.
open class MSALTokenParameters: MSALParameters {
  /// The scopes of the token, such as `https://graph.microsoft.com/user.read`. `openid`, `profile` and
  /// `offline_access` are always requested and must not be listed.
  open var scopes: [String]
  /// The account that the token is for.
  open var account: MSALAccount?
  /// The authority to use instead of the application's.
  open var authority: MSALAuthority?
  /// Claims that the token should have. Such a request always goes to the server.
  open var claimsRequest: MSALClaimsRequest?
  /// Additional parameters of the request, by name.
  open var extraQueryParameters: [String: String]?
  /// The id of the request in the server's logs; a new one by default.
  open var correlationId: UUID?
  /// The authentication scheme of the token (default: Bearer, which `nil` is, too).
  open var authenticationScheme: (any MSALAuthenticationSchemeProtocol)? = MSALAuthenticationSchemeBearer()
  /// Has no effect. It keeps what it is set to.
  public var msalXpcMode = MSALXpcMode.disabled

  /// - Parameter scopes: The scopes of the token.
  public init(scopes: [String]) { self.scopes = scopes }
}

/// A request with a sign-in in the system's browser.
open class MSALInteractiveTokenParameters: MSALTokenParameters {
  /// The kind of prompt.
  open var promptType = MSALPromptType.default
  /// The user name to fill in, without an account.
  open var loginHint: String?
  /// The domain of the user's organization, which skips its selection.
  open var domainHint: String?
  /// Scopes that the user consents to as well, although the token is not for them.
  open var extraScopesToConsent: [String]?
  /// How the sign-in is shown.
  public let webviewParameters: MSALWebviewParameters
  /// The preferred sign-in method: a QR code and a PIN, if the organization allows them.
  open var preferredAuthMethod = MSALPreferredAuthMethod.none

  /// Makes a request for scopes. The parameters of the web view are copied.
  public init(scopes: [String], webviewParameters: MSALWebviewParameters) {
    self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
    super.init(scopes: scopes)
  }

  /// The form of MSAL 1.
  @available(*, deprecated, renamed: "init(scopes:webviewParameters:)")
  public override init(scopes: [String]) {
    webviewParameters = MSALWebviewParameters()
    super.init(scopes: scopes)
  }
}

/// The kinds of prompts during the sign-in.
public enum MSALPromptType: UInt, Sendable {
  /// Selects an account: `select_account`.
  case selectAccount = 0
  /// Signs in again, regardless of the browser's sessions: `login`.
  case login = 1
  /// Asks for consent to the scopes: `consent`.
  case consent = 2
  /// Creates an account: `create`.
  case create = 3
  /// Prompts only if necessary: the parameter is left out.
  case promptIfNecessary = 4

  /// ``promptIfNecessary``.
  public static var `default`: MSALPromptType { .promptIfNecessary }

  var prompt: Prompt {
    switch self {
    case .selectAccount: .selectAccount
    case .login: .login
    case .consent: .consent
    case .create: .create
    case .promptIfNecessary: .promptIfNecessary
    }
  }
}

/// A silent request: from the cache, or with a refresh token.
open class MSALSilentTokenParameters: MSALTokenParameters {
  /// Renews the token even if the cache has a valid one.
  open var forceRefresh = false
  /// Whether the application's own refresh token is used when the machine's identity broker gives no token.
  open var allowUsingLocalCachedRtWhenSsoExtFailed = true

  /// Makes a request for scopes, of one of the application's accounts.
  public init(scopes: [String], account: MSALAccount) {
    super.init(scopes: scopes)
    self.account = account
  }
}

/// A request with a sign-in on another device (RFC 8628): for programs without a browser, such as over SSH. MSAL for iOS and macOS has no counterpart.
///
/// For example:
///
/// ```swift
/// let parameters = MSALDeviceCodeTokenParameters(
///   scopes: ["user.read"]
/// ) { code in print(code.message) }
/// let result = try await application.acquireToken(with: parameters)
/// ```
open class MSALDeviceCodeTokenParameters: MSALTokenParameters {
  let show: @Sendable (MSALDeviceCode) -> Void

  /// Makes a request whose code the program shows. `show` is called on one of the library's threads.
  @preconcurrency
  public init(scopes: [String], show: @escaping @Sendable (MSALDeviceCode) -> Void) {
    self.show = show
    super.init(scopes: scopes)
  }
}

/// A code for the sign-in on another device.
public final class MSALDeviceCode: NSObject, Sendable {
  /// The code to enter.
  public let userCode: String
  /// The page to open.
  public let verificationURI: URL
  /// The server's instruction with both, without control characters.
  public let message: String
  /// When the code expires.
  public let expiresOn: Date

  /// Makes a code, for a program's own tests. The arguments are its properties.
  public init(userCode: String, verificationURI: URL, message: String, expiresOn: Date) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.message = message
    self.expiresOn = expiresOn
  }

  convenience init(_ code: DeviceCode) {
    self.init(
      userCode: code.userCode, verificationURI: code.verificationURI, message: code.message,
      expiresOn: code.expiresOn)
  }
}

/// Parameters of a sign-out.
open class MSALSignoutParameters: MSALParameters {
  /// Has no effect: the server's sign-out page opens in the user's own browser session.
  public let webviewParameters: MSALWebviewParameters
  /// Also ends the browser's session, by the server's sign-out page.
  open var signoutFromBrowser = false
  /// Also removes the account, and its tokens of other programs of the keychain group.
  open var wipeAccount = false
  /// Removes the whole keychain group instead: the accounts and tokens of all its programs, unreadable entries, and the
  /// records of signed-out accounts. Other groups stay, and so do the caches of other MSAL
  /// libraries unless ``wipePeerCaches`` is set.
  open var wipeCacheForAllAccounts = false
  /// With ``wipeCacheForAllAccounts``, also removes the caches of other MSAL libraries that
  /// ``MSALWipeCacheForAllAccountsConfig/additionalPartnerLocations()`` lists, in the keyring and in plaintext files: those
  /// of Azure CLI, the Azure SDKs, Git Credential Manager and others. Users have to sign in to these programs again, and
  /// service principals of Azure CLI have to be configured again. On macOS a wipe always does that.
  open var wipePeerCaches = false
  /// Additional parameters of the sign-out page's URL, by name.
  open var extraQueryParameters: [String: String]?

  /// Makes parameters with the defaults.
  public override init() { webviewParameters = MSALWebviewParameters() }

  /// - Parameter webviewParameters: They are copied, and have no effect.
  public init(webviewParameters: MSALWebviewParameters) {
    self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
  }
}

/// The additional caches of a wipe of all accounts, if ``MSALSignoutParameters/wipePeerCaches`` is set.
public final class MSALWipeCacheForAllAccountsConfig: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.

  /// The caches of other MSAL libraries that are known on Linux, by the names in `llavero adopt`: the attributes of a
  /// keyring item, the `path` of a file.
  public static func additionalPartnerLocations() -> [String: [AnyHashable: Any]] {
    var locations: [String: [AnyHashable: Any]] = [:]
    for peer in PeerRegistry().caches {
      switch peer.place {
      case .item(_, let attributes): locations[peer.name] = attributes
      case .file(let path): locations[peer.name] = ["path": path]
      }
    }
    return locations
  }

  /// Makes an object, which is not needed: all members belong to the class.
  public override init() {}
}
