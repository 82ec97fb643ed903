extension MSALLoggerConfig {
  /// Whether what could lead to a person stands in the log.
  @available(*, deprecated, message: "Use logMaskingLevel.")
  public var piiEnabled: Bool {
    get { logMaskingLevel != .settingsMaskAllPII }
    set { logMaskingLevel = newValue ? .settingsMaskSecretsOnly : .settingsMaskAllPII }
  }
}
