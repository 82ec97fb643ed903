/// Has no effect: ``MSALLegacySharedAccountsProvider`` lists and changes nothing.
public enum MSALLegacySharedAccountMode: Int, Sendable {
  case readOnly = 0
  case readWrite = 1
}
