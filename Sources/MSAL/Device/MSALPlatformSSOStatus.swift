/// Whether the single sign-on of macOS is set up.
public enum MSALPlatformSSOStatus: UInt, Sendable {
  case notEnabled = 0
  case enabledNotRegistered = 1
  case enabledAndRegistered = 2
  case registrationNeedsRepair = 3
}
