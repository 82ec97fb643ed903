/// Has no effect: requests go through no broker for macOS.
public enum MSALXpcMode: UInt, Sendable {
  case disabled = 0
  case ssoExtCompanion = 1
  case ssoExtBackup = 2
  case primary = 3
}

extension MSALTokenParameters {
  /// Has no effect. It keeps what it is set to.
  public var msalXpcMode: MSALXpcMode {
    get { inertXpcMode }
    set { inertXpcMode = newValue }
  }
}
