/// How a person is offered to sign in.
public enum MSALPreferredAuthMethod: UInt, Sendable {
  /// The server chooses the way.
  case none = 0
  /// The person has a QR code and a PIN, as people have who share a device at work.
  case QRPIN = 1
}
