extension MSALLoggerConfig {
  /// Whether what could lead to a person stands in the log.
  @available(*, deprecated, message: "Use logMaskingLevel.")
  public var piiEnabled: Bool {
    get { logMaskingLevel != .settingsMaskAllPII }
    set { logMaskingLevel = newValue ? .settingsMaskSecretsOnly : .settingsMaskAllPII }
  }
}

extension MSALGlobalConfig {
  /// Always `.default`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public static var defaultWebviewType: MSALWebviewType {
    get { .default }
    set {}
  }
}
