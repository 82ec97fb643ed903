public import Foundation
import IdentityClient

/// Azure AD B2C.
public final class MSALB2CAuthority: MSALAuthority, @unchecked Sendable {
  // `@unchecked Sendable` has to be restated; the superclass says why it holds. Nothing is added here.

  /// Takes an address such as `https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address without https, host or the name of a policy.
  public convenience init(url: URL) throws {
    self.init(try Self.authority { () throws(IdentityError) in try Authority(url: url, kind: .b2c) })
  }
}
