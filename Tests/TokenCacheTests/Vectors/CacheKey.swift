import GLibSupport
@testable import TokenCache

/// The name under which MSAL for iOS and macOS keeps one record in the keychain.
///
/// `account` and `service` are the record's identity; joined by a dash they are its key in a serialized
/// cache.
struct CacheKey: Sendable, Hashable {
  var account: String
  var service: String
  /// More of the record's identity, which the keychain does not count as such.
  var generic: String?
  /// The keychain's item type: 1000 for accounts, 2000 for credentials, 3000 and 5000 for metadata, plus
  /// the kind.
  var itemType: Int?

  /// The key of a record in a section of a serialized cache, `<account>-<service>`.
  var serialized: String { "\(account)-\(service)" }

  /// Composes the account part from a home account id and an environment.
  static func account(homeAccountID: String, environment: String) -> String {
    "\(homeAccountID.normalized)-\(environment.normalized)"
  }

  /// Composes the generic part of a credential's key. Where there is a family id, it stands for the client
  /// id.
  static func generic(
    type: CredentialType, clientID: String, realm: String?, applicationIdentifier: String?
  ) -> String {
    ([type.rawValue, clientID, realm ?? ""] + (applicationIdentifier.map { [$0] } ?? []))
      .map(\.normalized).joined(separator: "-")
  }

  /// Composes the service part of a credential's key.
  static func service(
    type: CredentialType, clientID: String, realm: String?, applicationIdentifier: String?,
    target: String?, tokenType: String?, appKey: String?, requestedClaims: String?
  ) -> String {
    var service = generic(
      type: type, clientID: clientID, realm: realm, applicationIdentifier: applicationIdentifier)
    service += "-" + (target ?? "").normalized
    if let tokenType = tokenType.nonBlank { service += "-" + tokenType.normalized }
    if let appKey = appKey.nonBlank { service += "|" + appKey }
    if let claims = requestedClaims.nonBlank { service += "|" + sha256Hex(claims.normalized).prefix(7) }
    return service
  }
}
