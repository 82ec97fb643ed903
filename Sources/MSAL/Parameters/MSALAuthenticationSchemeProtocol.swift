public import Foundation

/// A way in which a token is used.
public protocol MSALAuthenticationSchemeProtocol: NSObjectProtocol {
  /// Which of the ways it is.
  var scheme: MSALAuthScheme { get }
  /// The scheme's name in an `Authorization` header.
  var authenticationScheme: String { get }
}
