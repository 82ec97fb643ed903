/// What is masked in the log. Tokens and other secrets never stand in it.
public enum MSALLogMaskingLevel: Int, Sendable {
  /// Everything that could lead to a person.
  case settingsMaskAllPII = 0
  /// On Linux the same as ``settingsMaskAllPII``: names of people are not told from what else could lead to them, such as
  /// account ids and what servers say.
  case settingsMaskEUIIOnly = 1
  /// Nothing but secrets: account ids, and what servers say, stand in the log.
  case settingsMaskSecretsOnly = 2
}
