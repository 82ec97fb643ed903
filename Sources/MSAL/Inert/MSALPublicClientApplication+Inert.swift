extension MSALPublicClientApplication {
  /// Has no effect and is always true. A host that only the program vouches for belongs into
  /// ``MSALPublicClientApplicationConfig/knownAuthorities``.
  @available(*, deprecated, message: "Use MSALPublicClientApplicationConfig.knownAuthorities.")
  public var validateAuthority: Bool {
    get { true }
    set {}
  }

  /// Has no effect and is always `.default`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public var webviewType: MSALWebviewType {
    get { .default }
    set {}
  }

  /// Has no effect and is always `nil`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.customWebview.")
  public var customWebview: Any? {
    get { nil }
    set {}
  }
}
