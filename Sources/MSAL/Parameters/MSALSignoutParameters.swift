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
