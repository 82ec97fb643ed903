public import Foundation

/// A place where another library keeps accounts. Its methods are called on threads of the library's.
public protocol MSALExternalAccountProviding: NSObjectProtocol, Sendable {
  /// Tokens of an account were obtained.
  func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws
  /// An account is removed, altogether if `wipeAccount` is true.
  func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws
  /// The accounts that fit.
  func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol]
}
