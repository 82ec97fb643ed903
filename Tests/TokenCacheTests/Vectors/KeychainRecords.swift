import Foundation

@testable import TokenCache

/// What MSAL for iOS and macOS has that the product has no use for, so that its test values can be read.
extension Credential {
  /// The device that a bound refresh token belongs to.
  var boundDeviceID: String? {
    get { string("bound_device_id") }
    set { set("bound_device_id", newValue) }
  }
  /// The lifetime in seconds that the server gave, as it gave it.
  var expiresIn: String? {
    get { string("expires_in") }
    set { set("expires_in", newValue) }
  }
  var recoveryAttemptedAt: Date? {
    get { date("recovery_attempted_at") }
    set { set("recovery_attempted_at", newValue) }
  }
  var recoveryAttemptCount: String? {
    get { string("recovery_attempt_count") }
    set { set("recovery_attempt_count", newValue) }
  }
  var lastRecoveryAttemptFailed: String? {
    get { string("last_recovery_attempt_failed") }
    set { set("last_recovery_attempt_failed", newValue) }
  }
  /// The key of a session that a primary refresh token opened, base64url.
  var sessionKey: String? {
    get { string("session_key") }
    set { set("session_key", newValue) }
  }
  var deviceID: String? {
    get { string("device_id") }
    set { set("device_id", newValue) }
  }
  var prtProtocolVersion: String? {
    get { string("prt_protocol_version") }
    set { set("prt_protocol_version", newValue) }
  }
  var externalKeyType: String? {
    get { string("external_key_type") }
    set { set("external_key_type", newValue) }
  }
  var lastModificationApp: String? {
    get { string("last_modification_app") }
    set { set("last_modification_app", newValue) }
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
  var lastModificationApp: String? {
    get { string("last_modification_app") }
    set { set("last_modification_app", newValue) }
  }

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

extension CacheDocument {
  /// Files a record as a save does that replaces nothing else.
  mutating func save(_ credential: Credential) {
    self[credential.credentialType.section][credential.serializedKey] = credential
  }

  mutating func save(_ account: AccountRecord) { accounts[account.serializedKey] = account }

  mutating func save(_ metadata: AppMetadata) { appMetadata[metadata.serializedKey] = metadata }

  mutating func save(_ metadata: AccountMetadata) { accountMetadata[metadata.serializedKey] = metadata }
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
