import Foundation
import FoundationEssentials
import GLibSupport

@testable import TokenCache

/// The name under which MSAL for iOS and macOS keeps one record in the keychain, or what a query knows of it.
///
/// `account` and `service` are the record's identity.
struct CacheKey {
  var account: String?
  var service: String?
  /// More of the record's identity, which the keychain does not count as such.
  var generic: String?
  /// The keychain's item type: 1000 for accounts, 2000 for credentials, 3000 and 5000 for metadata, plus
  /// the kind.
  var itemType: Int?

  /// Whether it names a single record.
  var isExact: Bool { account != nil && service != nil }

  /// Whether a record's key has the parts that are known.
  func admits(_ key: CacheKey) -> Bool {
    (account ?? key.account) == key.account && (service ?? key.service) == key.service
      && (generic ?? key.generic) == key.generic && (itemType ?? key.itemType) == key.itemType
  }

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

/// What MSAL for iOS and macOS has that the product has no use for, so that its test values can be read.
extension Credential {
  var recoveryAttemptedAt: Date? {
    get { date("recovery_attempted_at") }
    set { set("recovery_attempted_at", newValue) }
  }

  var key: CacheKey { key(appKey: nil) }

  /// The record's name for an application that has a key of its own.
  func key(appKey: String?) -> CacheKey {
    let type = credentialType
    let isRefreshToken = type.section == .refreshToken
    let clientID = familyID ?? clientID ?? ""
    return CacheKey(
      account: CacheKey.account(homeAccountID: homeAccountID ?? "", environment: environment ?? ""),
      service: CacheKey.service(
        type: type, clientID: clientID, realm: isRefreshToken ? nil : realm,
        applicationIdentifier: applicationIdentifier, target: type.section == .accessToken ? target : nil,
        tokenType: type == .accessTokenWithAuthScheme ? tokenType : nil, appKey: appKey,
        requestedClaims: requestedClaims),
      generic: CacheKey.generic(
        type: type, clientID: clientID, realm: isRefreshToken ? nil : realm,
        applicationIdentifier: applicationIdentifier),
      itemType: type.itemType)
  }
}

extension AccountRecord {
  var key: CacheKey {
    CacheKey(
      account: CacheKey.account(homeAccountID: homeAccountID ?? "", environment: environment ?? ""),
      service: (realm ?? "").normalized, generic: username?.normalized, itemType: accountType?.itemType)
  }
}

extension AppMetadata {
  /// The environment keeps its case.
  var key: CacheKey {
    CacheKey(
      account: environment ?? "", service: "appmetadata-" + (clientID ?? "").normalized, generic: familyID,
      itemType: 3001)
  }
}

extension AccountMetadata {
  var key: CacheKey {
    CacheKey(account: "authority_map", service: clientID ?? "", generic: nil, itemType: 5001)
  }
}

extension CredentialType {
  /// The keychain's item type of such a credential.
  var itemType: Int {
    switch self {
    case .other: 2000
    case .accessToken: 2001
    case .refreshToken: 2002
    case .idToken: 2003
    case .legacySingleResourceToken: 2004
    case .primaryRefreshToken: 2005
    case .legacyIDToken: 2006
    case .accessTokenWithAuthScheme: 2007
    case .familyRefreshToken: 2008
    case .boundRefreshToken: 2009
    }
  }
}

extension AccountType {
  /// The keychain's item type of such an account.
  var itemType: Int {
    switch self {
    case .other: 1000
    case .aad: 1001
    case .msa: 1002
    case .msSTS: 1003
    case .adfs: 1004
    }
  }
}

extension AuthenticationScheme {
  /// The scheme that a token request named by its parameters: `token_type`, and `key_id` or the key id in
  /// `req_cnf`.
  init(parameters: [String: String]) {
    guard let tokenType = parameters["token_type"].nonBlank, tokenType.lowercased() != "bearer" else {
      self = .bearer
      return
    }
    let confirmation = parameters["req_cnf"].flatMap(Data.init(base64URL:))
      .flatMap { try? JSONObject(foreign: $0, within: .response) }
    let keyID = parameters["key_id"].nonBlank ?? confirmation?["kid"]?.stringValue
    self = .bound(tokenType: tokenType, keyID: keyID ?? "")
  }
}
