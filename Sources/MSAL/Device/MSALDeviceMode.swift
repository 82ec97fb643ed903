/// Whether a device is shared by several people.
public enum MSALDeviceMode: UInt, Sendable {
  case `default` = 0
  /// One person after the other works with it. Never reported on Linux.
  case shared = 1
}
