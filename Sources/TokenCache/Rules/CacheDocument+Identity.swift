/// What makes two records one, whatever key each stands under.
///
/// Hosts of one cloud are one environment, and `common` is the account's home tenant, so that a cache which
/// several libraries fed is one cache.
struct RecordIdentity: Hashable {
  private let parts: [String]
  private let extraParameters: JSONValue?

  /// The identity of a credential, scopes and requested claims of an access token left aside.
  init(_ credential: Credential, in clouds: CloudInstances) {
    let type = credential.credentialType
    var parts = [
      (credential.string("credential_type") ?? "").normalized, (credential.homeAccountID ?? "").normalized,
      clouds.canonical(credential.environment ?? ""),
    ]
    switch type.section {
    case .accessToken:
      parts += [
        (credential.clientID ?? "").normalized, Self.tenant(credential),
        (credential.applicationIdentifier ?? "").normalized, credential.schemeName,
      ]
    case .idToken:
      parts += [(credential.clientID ?? "").normalized, Self.tenant(credential)]
    case .refreshToken:
      // MSAL for Python keeps one token of a family for each client.
      parts += [(credential.clientID ?? "").normalized, (credential.familyID ?? "").normalized]
    }
    (self.parts, extraParameters) = (parts, credential.extraParameters)
  }

  init(_ account: AccountRecord, in clouds: CloudInstances) {
    parts = [
      (account.homeAccountID ?? "").normalized, clouds.canonical(account.environment ?? ""),
      Tenant.resolve(realm: account.realm, homeAccountID: account.homeAccountID),
    ]
    extraParameters = nil
  }

  init(_ metadata: AppMetadata, in clouds: CloudInstances) {
    parts = [clouds.canonical(metadata.environment ?? ""), (metadata.clientID ?? "").normalized]
    extraParameters = nil
  }

  private static func tenant(_ credential: Credential) -> String {
    Tenant.resolve(realm: credential.realm, homeAccountID: credential.homeAccountID)
  }
}

extension CacheDocument {
  /// Stores an access token and removes those that its scopes make needless: the ones with a scope in common
  /// and everything else but the scopes alike. Tokens that were asked with claims stay.
  mutating func saveAccessToken(_ token: Credential, in clouds: CloudInstances) {
    let identity = RecordIdentity(token, in: clouds)
    let scopes = ScopeSet(token.target ?? "")
    let siblings = accessTokens.filter { RecordIdentity($0.value, in: clouds) == identity }
    for (key, sibling) in siblings where sibling.requestedClaims == nil {
      let theirs = ScopeSet(sibling.target ?? "")
      let isReplacedInPlace = theirs == scopes && token.requestedClaims == nil
      if theirs.overlaps(scopes) && !isReplacedInPlace { accessTokens[key] = nil }
    }
    accessTokens.saveAsOne(token) {
      RecordIdentity($0, in: clouds) == identity && ScopeSet($0.target ?? "") == scopes
        && $0.requestedClaims == token.requestedClaims
    }
  }

  /// Stores an ID token as the only one of its client, account and tenant.
  mutating func saveIDToken(_ token: Credential, in clouds: CloudInstances) {
    let identity = RecordIdentity(token, in: clouds)
    idTokens.saveAsOne(token) { RecordIdentity($0, in: clouds) == identity }
  }

  /// Stores a refresh token as the only one of its client, or of its family for this client.
  mutating func saveRefreshToken(_ token: Credential, in clouds: CloudInstances) {
    let identity = RecordIdentity(token, in: clouds)
    let same = refreshTokens.filter { RecordIdentity($0.value, in: clouds) == identity }
    if same.count == 1, let only = same.first?.value, only.secret == token.secret { return }
    // Apple's library files a family's token under the family, for whichever client stored it last.
    let familyKey = token.familyID.flatMap { _ in
      refreshTokens.keys.sorted().first { key in
        refreshTokens[key].map { $0.serializedKey == key && $0.isFamilyTwin(of: token, in: clouds) } ?? false
      }
    }
    if same.isEmpty, let familyKey, let older = refreshTokens[familyKey] {
      refreshTokens[familyKey] = token.replacing(older)
    } else {
      refreshTokens.saveAsOne(token) { RecordIdentity($0, in: clouds) == identity }
    }
  }

  /// Stores what a response said of an account in one tenant, as the only such record.
  mutating func saveAccount(_ account: AccountRecord, in clouds: CloudInstances) {
    let identity = RecordIdentity(account, in: clouds)
    accounts.saveAsOne(account) { RecordIdentity($0, in: clouds) == identity }
  }

  /// Stores what is known of a client in one cloud, as the only such record.
  mutating func saveAppMetadata(_ metadata: AppMetadata, in clouds: CloudInstances) {
    let identity = RecordIdentity(metadata, in: clouds)
    appMetadata.saveAsOne(metadata) { RecordIdentity($0, in: clouds) == identity }
  }
}

extension Credential {
  fileprivate func isFamilyTwin(of token: Credential, in clouds: CloudInstances) -> Bool {
    credentialType == token.credentialType && familyID?.normalized == token.familyID?.normalized
      && homeAccountID?.normalized == token.homeAccountID?.normalized
      && clouds.canonical(environment ?? "") == clouds.canonical(token.environment ?? "")
  }
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Stores a record in place of all that a condition names, under the key of one of them: its own key, or
  /// the first.
  fileprivate mutating func saveAsOne(_ record: Value, where isSame: (Value) -> Bool) {
    let keys = filter { isSame($0.value) }.keys.sorted()
    guard let kept = keys.first(where: { $0 == record.serializedKey }) ?? keys.first, let older = self[kept]
    else { return save(record, where: isSame) }
    let rest = keys.filter { $0 != kept }
    let base = rest.compactMap { removeValue(forKey: $0) }.reduce(older) { $0.replacing($1) }
    self[kept] = record.replacing(base)
  }
}
