public import Foundation
import IdentityClient

/// Microsoft Entra External ID.
public final class MSALCIAMAuthority: MSALAuthority, @unchecked Sendable {
  // `@unchecked Sendable` has to be restated; the superclass says why it holds. Nothing is added here.

  /// Takes an address such as `https://contoso.ciamlogin.com`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address without https or host, and for one of another
  ///   domain than `ciamlogin.com`.
  public convenience init(url: URL) throws {
    try self.init(url: url, validateFormat: true)
  }

  /// Takes an address, of a domain of one's own if `validateFormat` is false. Then it names the tenant.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address without https or host, or in another form.
  public convenience init(url: URL, validateFormat: Bool) throws {
    if validateFormat, url.host?.lowercased().hasSuffix(".ciamlogin.com") != true {
      throw NSError(
        .internalErrorInvalidParameter, "\(url.host ?? "The address") is no host of ciamlogin.com.",
        advice: "For a domain of one's own, switch the check of the format off.")
    }
    self.init(try Self.authority { () throws(IdentityError) in try Authority(url: url, kind: .ciam) })
  }
}
