/// How a token is used.
public enum MSALAuthScheme: UInt, Sendable {
  /// Whoever has the token may use it (RFC 6750).
  case bearer = 0
  /// Only who can sign with its key may use the token.
  case pop = 1
}
