/// How Microsoft's broker lets a person sign in. Without effect on Linux.
public enum MSALPreferredAuthMethod: UInt, Sendable {
  case none = 0
  case QRPIN = 1
}
