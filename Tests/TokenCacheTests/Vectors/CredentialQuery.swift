@testable import TokenCache

/// Which credentials to find, with the matching rules of MSAL for iOS and macOS.
///
/// A field that is `nil` matches everything. Where the query names a single record, that record's key decides
/// and nothing else is looked at.
struct CredentialQuery: Sendable, Hashable {
  /// How the scopes of a query and of a record are compared.
  enum TargetMatching: Sendable, Hashable {
    /// The same text, case and outer white space aside.
    case exactString
    /// The record has every scope asked for.
    case subset
    /// One scope at least is in both.
    case intersect
    case any
  }

  /// How client and family of a query and of a record are compared.
  enum ClientMatching: Sendable, Hashable {
    /// Each that the query names must be equal.
    case exact
    /// One that the query names must be equal.
    case superset
  }

  var credentialType: CredentialType?
  var homeAccountID: String?
  var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  var environmentAliases: [String] = []
  var clientID: String?
  var familyID: String?
  var realm: String?
  var target: String?
  var applicationIdentifier: String?
  var tokenType: String?
  var requestedClaims: String?
  var appKey: String?
  var targetMatching = TargetMatching.exactString
  var clientMatching = ClientMatching.exact

  /// - Parameter credentialType: The kind of credential, `nil` for any.
  init(_ credentialType: CredentialType?) {
    self.credentialType = credentialType
  }

  /// The account part of the keys that match, where it is known.
  var account: String? {
    guard let homeAccountID, let environment else { return nil }
    return CacheKey.account(homeAccountID: homeAccountID, environment: environment)
  }

  /// The service part of the keys that match, where it is known.
  var service: String? {
    switch credentialType {
    case .accessToken, .accessTokenWithAuthScheme:
      guard let keyClientID, let realm, let target, targetMatching == .exactString else { return nil }
      return service(clientID: keyClientID, realm: realm, target: target)
    case .refreshToken, .primaryRefreshToken:
      guard let keyClientID else { return nil }
      return service(clientID: keyClientID, realm: nil, target: nil)
    case .idToken, .legacyIDToken:
      guard let clientID, let realm else { return nil }
      return service(clientID: clientID, realm: realm, target: nil)
    default: return nil
    }
  }

  /// The generic part of the keys that match, where it is known.
  var generic: String? {
    guard let credentialType, let keyClientID else { return nil }
    if credentialType == .refreshToken {
      return CacheKey.generic(
        type: credentialType, clientID: keyClientID, realm: nil, applicationIdentifier: nil)
    }
    guard let realm else { return nil }
    return CacheKey.generic(
      type: credentialType, clientID: keyClientID, realm: realm,
      applicationIdentifier: credentialType.section == .accessToken ? applicationIdentifier : nil)
  }

  /// The keychain's item type of the records that match.
  var itemType: Int? { credentialType?.itemType }

  /// Whether the query names a single record.
  var isExactMatch: Bool { account != nil && service != nil }

  private var keyClientID: String? {
    clientMatching == .exact ? familyID ?? clientID : nil
  }

  private func service(clientID: String, realm: String?, target: String?) -> String? {
    guard let credentialType else { return nil }
    let isAccessToken = credentialType.section == .accessToken
    return CacheKey.service(
      type: credentialType, clientID: clientID, realm: realm,
      applicationIdentifier: isAccessToken ? applicationIdentifier : nil, target: target,
      tokenType: credentialType == .accessTokenWithAuthScheme ? tokenType : nil, appKey: appKey,
      requestedClaims: isAccessToken ? requestedClaims : nil)
  }

  /// Whether a credential is among those asked for.
  func matches(_ credential: Credential) -> Bool {
    let key = credential.key(appKey: appKey)
    guard
      (account ?? key.account) == key.account, (service ?? key.service) == key.service,
      (generic ?? key.generic) == key.generic, (itemType ?? key.itemType) == key.itemType
    else { return false }
    return isExactMatch || matchesFields(of: credential)
  }

  private func matchesFields(of credential: Credential) -> Bool {
    guard
      homeAccountID.matches(credential.homeAccountID), environment.matches(credential.environment),
      environmentAliases.isEmpty
        || environmentAliases.contains(where: { $0.matches(credential.environment) }),
      realm.matches(credential.realm), matchesTarget(of: credential)
    else { return false }
    if clientID == nil && familyID == nil { return true }
    if targetMatching == .any, let clientID, clientID.matches(credential.clientID) { return true }
    guard requestedClaims.nonBlank == credential.requestedClaims else { return false }
    switch clientMatching {
    case .exact:
      return clientID.matches(credential.clientID) && familyID.matches(credential.familyID)
    case .superset:
      return clientID?.matches(credential.clientID) ?? false
        || familyID?.matches(credential.familyID) ?? false
    }
  }

  private func matchesTarget(of credential: Credential) -> Bool {
    guard let target else { return true }
    switch targetMatching {
    case .exactString: return target.matches(credential.target)
    case .subset: return ScopeSet(credential.target ?? "").satisfies(ScopeSet(target))
    case .intersect: return ScopeSet(credential.target ?? "").intersects(ScopeSet(target))
    case .any: return true
    }
  }
}

extension CacheDocument {
  /// The credentials that a query asks for, in the order of their keys.
  func credentials(matching query: CredentialQuery) -> [Credential] {
    credentials.map(\.credential).filter(query.matches)
  }

  /// The account records that a query asks for, in the order of their keys.
  func accounts(matching query: AccountQuery) -> [AccountRecord] {
    accounts.sorted { $0.key < $1.key }.map(\.value).filter(query.matches)
  }
}
