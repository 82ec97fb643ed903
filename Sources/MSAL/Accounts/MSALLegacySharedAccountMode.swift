/// What ``MSALLegacySharedAccountsProvider`` may do.
public enum MSALLegacySharedAccountMode: Int, Sendable {
  case readOnly = 0
  case readWrite = 1
}
