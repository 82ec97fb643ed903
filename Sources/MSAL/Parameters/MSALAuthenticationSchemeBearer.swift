public import Foundation

/// The default: whoever has the token may use it.
public final class MSALAuthenticationSchemeBearer: NSObject, MSALAuthenticationSchemeProtocol, Sendable {
  /// `.bearer`.
  public var scheme: MSALAuthScheme { .bearer }
  /// `Bearer`.
  public var authenticationScheme: String { "Bearer" }

  /// Says what holds for requests without a scheme, too.
  public override init() {}
}
