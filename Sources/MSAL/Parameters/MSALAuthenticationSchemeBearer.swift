public import Foundation

/// The default: whoever has the token may use it.
public final class MSALAuthenticationSchemeBearer: NSObject, MSALAuthenticationSchemeProtocol, Sendable {
  public var scheme: MSALAuthScheme { .bearer }
  public var authenticationScheme: String { "Bearer" }

  public override init() {}
}
