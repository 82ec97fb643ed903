/// How a person is offered to sign in.
public enum MSALPreferredAuthMethod: UInt, Sendable {
  /// In the way that the server chooses.
  case none = 0
  /// With a QR code and a PIN, as for people who share a device at work.
  case QRPIN = 1
}
