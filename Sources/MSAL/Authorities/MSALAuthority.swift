public import Foundation
import IdentityClient

/// Who signs people in.
///
/// Programs mostly make one of its subclasses. An authority never changes.
public class MSALAuthority: NSObject, NSCopying, @unchecked Sendable {
  // `@unchecked Sendable` because the class has subclasses. They are all in this module, the initializers that they must
  // call are not public, and none has more than this constant.
  let authority: Authority

  /// The address in its normal form, without what does not name the authority.
  public var url: URL { authority.url }

  /// Takes an address whose form says of which kind the authority is.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address that is none of an authority.
  public convenience init(url: URL) throws {
    self.init(try Self.authority { () throws(IdentityError) in try Authority(url: url) })
  }

  init(_ authority: Authority) {
    self.authority = authority
  }

  /// The object of the right class for an authority.
  static func make(_ authority: Authority) -> MSALAuthority {
    switch authority.kind {
    case .aad: MSALAADAuthority(authority)
    case .b2c: MSALB2CAuthority(authority)
    case .adfs: MSALADFSAuthority(authority)
    case .ciam: MSALCIAMAuthority(authority)
    case .oidc: MSALAuthority(authority)
    }
  }

  static func authority(_ make: () throws(IdentityError) -> Authority) throws -> Authority {
    do {
      return try make()
    } catch {
      throw NSError(error)
    }
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is the same authority.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAuthority)?.authority == authority
  }

  /// The hash of the address.
  public override var hash: Int { authority.hashValue }
}
