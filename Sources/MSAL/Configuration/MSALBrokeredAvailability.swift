/// Whether Microsoft's broker is used. Without effect on Linux.
public enum MSALBrokeredAvailability: Int, Sendable {
  case auto = 0
  case none = 1
}
