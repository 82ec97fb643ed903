public import Foundation
import IdentityClient
import MSALExtensionsStore

/// What every call can be told.
open class MSALParameters: NSObject {
  /// Where the completion block is called. Unless it is set, sign-in and sign-out call it on the main queue, silent
  /// requests on a queue of the library's, and what asks the cache alone before it returns.
  ///
  /// A program whose main thread runs GLib's main loop (GTK, for instance) serves no main queue: it sets this
  /// or uses the async methods.
  open var completionBlockQueue: DispatchQueue?

  /// Nothing but defaults.
  public override init() {}
}

/// What every request for a token can be told. Programs use its subclasses.
open class MSALTokenParameters: MSALParameters {
  /// What the token is for, such as `https://graph.microsoft.com/user.read`. `openid`, `profile` and
  /// `offline_access` are asked for in any case and must not be listed.
  open var scopes: [String]
  /// The account that the token is for.
  open var account: MSALAccount?
  /// The authority to ask, instead of that of the application.
  open var authority: MSALAuthority?
  /// Claims that the token should have. Such a request is always put to the server.
  open var claimsRequest: MSALClaimsRequest?
  /// Parameters to add to the request, by name.
  open var extraQueryParameters: [String: String]?
  /// The id under which the server's logs know the request; a new one unless it is set.
  open var correlationId: UUID?
  /// How the token is to be used; `nil` is Bearer.
  open var authenticationScheme: (any MSALAuthenticationSchemeProtocol)?
  /// See `Inert`.
  var inertXpcMode = MSALXpcMode.disabled

  /// - Parameter scopes: What the token is for.
  public init(scopes: [String]) {
    self.scopes = scopes
  }
}

/// A request in which the person signs in, in the system's browser.
open class MSALInteractiveTokenParameters: MSALTokenParameters {
  /// What the server asks the person.
  open var promptType = MSALPromptType.default
  /// The user name to begin with, if there is no account.
  open var loginHint: String?
  /// The domain of the person's organization, which spares the question for it.
  open var domainHint: String?
  /// Scopes to which the person consents in the same go, although the token is not for them.
  open var extraScopesToConsent: [String]?
  /// How the sign-in is shown.
  public let webviewParameters: MSALWebviewParameters
  /// How the person is offered to sign in: with a QR code and a PIN, if the organization allows that and this says so.
  open var preferredAuthMethod = MSALPreferredAuthMethod.none

  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - webviewParameters: How the sign-in is shown; they are copied.
  public init(scopes: [String], webviewParameters: MSALWebviewParameters) {
    self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
    super.init(scopes: scopes)
  }

  /// As MSAL 1 had it.
  @available(*, deprecated, renamed: "init(scopes:webviewParameters:)")
  public convenience override init(scopes: [String]) {
    self.init(scopes: scopes, webviewParameters: MSALWebviewParameters())
  }
}

/// What the server asks the person during the sign-in.
public enum MSALPromptType: UInt, Sendable {
  /// Which account to use: `select_account`.
  case selectAccount = 0
  /// To sign in again, whatever sessions the browser has: `login`.
  case login = 1
  /// To consent to the scopes: `consent`.
  case consent = 2
  /// To create an account: `create`.
  case create = 3
  /// Only what it cannot do without: the parameter is left out.
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

/// A request that is answered without the person: from the cache, or by means of a refresh token.
open class MSALSilentTokenParameters: MSALTokenParameters {
  /// Asks the server even if there is a valid token in the cache.
  open var forceRefresh = false
  /// Whether the application's own refresh token serves when the machine's identity broker is there and gives no token.
  open var allowUsingLocalCachedRtWhenSsoExtFailed = true

  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - account: One of the application's accounts.
  public init(scopes: [String], account: MSALAccount) {
    super.init(scopes: scopes)
    self.account = account
  }
}

/// A request in which the person signs in on another device (RFC 8628): for programs without a browser, over
/// SSH for instance. MSAL for iOS and macOS has nothing like it.
///
/// For example:
///
/// ```swift
/// let parameters = MSALDeviceCodeTokenParameters(scopes: ["user.read"]) { code in print(code.message) }
/// let result = try await application.acquireToken(with: parameters)
/// ```
open class MSALDeviceCodeTokenParameters: MSALTokenParameters {
  let show: @Sendable (MSALDeviceCode) -> Void

  /// Asks for a token by a code that the program shows.
  ///
  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - show: Shows the code to the person. It is called on a thread of the library's.
  @preconcurrency
  public init(scopes: [String], show: @escaping @Sendable (MSALDeviceCode) -> Void) {
    self.show = show
    super.init(scopes: scopes)
  }
}

/// What the person needs for the sign-in on another device.
public final class MSALDeviceCode: NSObject, Sendable {
  /// The code to type in.
  public let userCode: String
  /// The page to open.
  public let verificationURI: URL
  /// A sentence that says both, in the server's words and without control characters.
  public let message: String
  /// When the code is good no more.
  public let expiresOn: Date

  /// Makes a code that no server gave, for a program's own tests.
  ///
  /// - Parameters:
  ///   - userCode: The code to type in.
  ///   - verificationURI: The page to open.
  ///   - message: A sentence that says both.
  ///   - expiresOn: When the code is good no more.
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

/// How an account is signed out.
open class MSALSignoutParameters: MSALParameters {
  /// How the server's sign-out page is shown.
  public let webviewParameters: MSALWebviewParameters
  /// Also ends the browser's session, by the server's sign-out page.
  open var signoutFromBrowser = false
  /// Also removes the account and the tokens that other programs of the keychain group have for it.
  open var wipeAccount = false
  /// Removes everything of the keychain group instead: the accounts and the tokens of all programs that use it, what
  /// cannot be read, and what is remembered of who signed out. Other groups stay, and so do the caches of other MSAL
  /// libraries unless ``wipePeerCaches`` is set.
  open var wipeCacheForAllAccounts = false
  /// With ``wipeCacheForAllAccounts``, also removes the caches of other MSAL libraries that
  /// ``MSALWipeCacheForAllAccountsConfig/additionalPartnerLocations()`` lists, in the keyring and in plaintext files: those
  /// of Azure CLI, the Azure SDKs, Git Credential Manager and others. People have to sign in to these programs again, and
  /// service principals of Azure CLI have to be given anew. On macOS a wipe always does that.
  open var wipePeerCaches = false
  /// Parameters to add to the address of the sign-out page, by name.
  open var extraQueryParameters: [String: String]?

  /// Nothing but defaults.
  public override convenience init() { self.init(webviewParameters: MSALWebviewParameters()) }

  /// - Parameter webviewParameters: How the sign-out page is shown; they are copied.
  public init(webviewParameters: MSALWebviewParameters) {
    self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
    super.init()
  }
}

/// Where else a wipe of all accounts looks, if ``MSALSignoutParameters/wipePeerCaches`` is set.
public final class MSALWipeCacheForAllAccountsConfig: NSObject, Sendable {
  /// The caches of other MSAL libraries that are known on Linux, by the names that `llavero sources` has for them: of a
  /// keyring item its attributes, of a file its `path`.
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

  /// An object without use: all there is belongs to the class.
  public override init() {}
}
