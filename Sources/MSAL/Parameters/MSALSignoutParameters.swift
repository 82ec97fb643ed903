/// How an account is signed out.
open class MSALSignoutParameters: MSALParameters {
  /// How the server's sign-out page is shown.
  public let webviewParameters: MSALWebviewParameters
  /// Also ends the browser's session, by the server's sign-out page.
  open var signoutFromBrowser = false
  /// Also removes the account and the tokens that other programs of the keychain group have for it.
  open var wipeAccount = false
  /// Also removes every account of the keychain group.
  open var wipeCacheForAllAccounts = false
  /// Parameters to add to the address of the sign-out page, by name.
  open var extraQueryParameters: [String: String]?

  /// - Parameter webviewParameters: How the sign-out page is shown; they are copied.
  public init(webviewParameters: MSALWebviewParameters) {
    self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
    super.init()
  }
}
