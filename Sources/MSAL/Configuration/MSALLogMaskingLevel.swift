/// What is masked in the log. Tokens and other secrets never stand in it.
public enum MSALLogMaskingLevel: Int, Sendable {
  /// Everything that could lead to a person.
  case settingsMaskAllPII = 0
  /// On Linux the same as ``settingsMaskSecretsOnly``: what could lead to a person are account ids and what servers say,
  /// and names of people are not told from the rest.
  case settingsMaskEUIIOnly = 1
  /// Nothing but secrets: account ids, and what servers say, stand in the log.
  case settingsMaskSecretsOnly = 2
}
