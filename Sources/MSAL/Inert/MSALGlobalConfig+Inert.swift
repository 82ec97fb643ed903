import Synchronization

extension MSALGlobalConfig {
  private static let requestsBoundRefreshTokens = Mutex(false)

  /// Has no effect: refresh tokens are bound to no device. It keeps what it is set to.
  public static var shouldRequestBoundAppRefreshTokens: Bool {
    get { requestsBoundRefreshTokens.withLock { $0 } }
    set { requestsBoundRefreshTokens.withLock { $0 = newValue } }
  }

  /// Has no effect and is always `.default`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public static var defaultWebviewType: MSALWebviewType {
    get { .default }
    set {}
  }
}
