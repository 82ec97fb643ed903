/// What is masked in the log. Tokens and other secrets never stand in it.
public enum MSALLogMaskingLevel: Int, Sendable {
  /// Everything that could lead to a person.
  case settingsMaskAllPII = 0
  /// On Linux the same as ``settingsMaskSecretsOnly``.
  case settingsMaskEUIIOnly = 1
  /// Nothing but secrets: user names, account ids and tenants stand in the log.
  case settingsMaskSecretsOnly = 2
}
