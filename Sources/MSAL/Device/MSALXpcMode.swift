/// Whether requests go through Microsoft's broker for macOS. Without effect on Linux.
public enum MSALXpcMode: UInt, Sendable {
  case disabled = 0
  case ssoExtCompanion = 1
  case ssoExtBackup = 2
  case primary = 3
}
