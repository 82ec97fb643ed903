/// Whether the identity broker is used, where there is one and the redirect URI is one for a broker.
public enum MSALBrokeredAvailability: Int, Sendable {
  case auto = 0
  case none = 1
}
