public import Foundation
import IdentityClient

/// Active Directory Federation Services.
public final class MSALADFSAuthority: MSALAuthority, @unchecked Sendable {
  // `@unchecked Sendable` has to be restated; the superclass says why it holds. Nothing is added here.

  /// Takes an address such as `https://fs.contoso.com/adfs`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address without https, host or the path `adfs`.
  public convenience init(url: URL) throws {
    self.init(try Self.authority { () throws(IdentityError) in try Authority(url: url, kind: .adfs) })
  }
}
