/// Saving the records of a token response, each as the only one with its identity.
extension CacheDocument {
  /// Stores an access token and removes those that differ only in their scopes and share one with it. Scopes of OpenID
  /// Connect do not count.
  mutating func saveAccessToken(_ token: Credential, in clouds: CloudInstances) {
    let identity = RecordIdentity(siblingsOf: token, in: clouds)
    let scopes = ScopeSet(token.target ?? "")
    for (key, sibling) in accessTokens
    where RecordIdentity(siblingsOf: sibling, in: clouds) == identity {
      let theirs = ScopeSet(sibling.target ?? "")
      // One with the same scopes is replaced in place.
      if theirs != scopes, !theirs.significant.isDisjoint(with: scopes.significant) {
        accessTokens[key] = nil
      }
    }
    accessTokens.saveAsOne(token, in: clouds)
  }

  /// Stores a refresh token as the only one of its client, or of its family for this client. `scopes` are those of the response.
  mutating func saveRefreshToken(_ token: Credential, for scopes: String, in clouds: CloudInstances) {
    let identity = token.identity(in: clouds)
    let same = refreshTokens.filter { $0.value.identity(in: clouds) == identity }
    if same.count == 1, let only = same.first?.value, only.secret == token.secret { return }
    let own = token.serializedKey
    guard same.isEmpty else { return refreshTokens.saveAsOne(token, in: clouds) }
    guard let family = token.sharedIdentity(under: own, in: clouds) else {
      // The family's record, which is stored first, is the only one where it is kept as MSAL for Python does.
      let isKept = refreshTokens.contains {
        $0.value.familyID != nil && $0.value.secret == token.secret && $0.key == $0.value.keyOfPython
      }
      if !isKept { refreshTokens.put(token, at: own) }
      return
    }
    let relatives = refreshTokens.filter {
      $0.value.sharedIdentity(under: $0.value.serializedKey, in: clouds) == family
    }
    let present = relatives.filter { $0.key == $0.value.serializedKey }
    if let key = present[own] == nil ? present.keys.min() : own, let older = present[key] {
      refreshTokens[key] = token.replacing(older)
    } else if relatives.contains(where: { $0.key == $0.value.keyOfPython }) {
      var token = token
      token.target = scopes
      refreshTokens.put(token, at: token.keyOfPython)
    } else {
      refreshTokens.put(token, at: own)
    }
  }

  /// The records of a response with the host that the account's records have in their cloud, and the realm that these have for
  /// their tenant. By both the library that wrote them finds what is added (`CacheFormat.md`, R4.22 and R4.23).
  func spelled(_ records: TokenRecords, in clouds: CloudInstances) -> TokenRecords {
    let cloud = clouds.canonical(records.request.environment)
    func newestFirst(_ all: [any CacheRecord]) -> [any CacheRecord] {
      func field(_ name: String, of record: any CacheRecord) -> String { record.string(name) ?? "" }
      return all.filter {
        $0.normalizedOwner == records.homeAccountID
          && clouds.canonical(field("environment", of: $0)) == cloud
      }.sorted {
        ($1.age, field("environment", of: $0), field("realm", of: $0))
          < ($0.age, field("environment", of: $1), field("realm", of: $1))
      }
    }
    let refreshTokens = newestFirst(Array(refreshTokens.values))
    let others = newestFirst(Array(accessTokens.values) + Array(idTokens.values) + Array(accounts.values))
    let tenant = (records.accessToken ?? records.idToken)?.tenant
    let realm = others.lazy.compactMap { $0.string("realm") }.first { realm in
      Tenant.resolve(realm: realm, homeAccountID: records.homeAccountID) == tenant
    }
    let host = (refreshTokens + others).first?.string("environment") ?? clouds.preferredCache(of: cloud)
    return records.spelled(host: host, realm: realm)
  }
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Stores a record in place of all with the same identity, under the key of one of them: its own key, or the first.
  mutating func saveAsOne(_ record: Value, in clouds: CloudInstances) {
    let identity = record.identity(in: clouds)
    var keys = filter { $0.value.identity(in: clouds) == identity }.keys.sorted()
    guard let index = keys.firstIndex(of: record.serializedKey) ?? keys.indices.first else {
      return put(record, at: record.serializedKey)
    }
    let kept = keys.remove(at: index)
    guard let older = self[kept] else { return }
    self[kept] = keys.compactMap { removeValue(forKey: $0) }.reduce(record.replacing(older)) {
      $0.completed(by: $1)
    }
  }
}

extension Credential {
  /// The key that MSAL for Python makes of a refresh token's fields: that of its client, also for a family's token. That library
  /// removes only what is under it (`CacheFormat.md`, R4.24).
  fileprivate var keyOfPython: String {
    var token = self
    token.familyID = nil
    return token.serializedKey + (target ?? "").normalized
  }
}
