import FoundationEssentials
package import TokenCache

/// A record of the unified schema as any library might have written it, for caches that tests make up.
///
/// What a test does not name is the same in all records: the account `u.t`, the client `c` and the host `e`. A token is
/// filed under its secret unless a key is given. `more` are further fields, which go before the usual ones.
package struct SampleRecord: Sendable {
  fileprivate let add: @Sendable (inout CacheDocument) -> Void

  package static func accessToken(
    _ secret: String, key: String? = nil, of account: String? = "u.t", client: String = "c",
    host: String = "e", realm: String = "t", scopes: String = "A B", cachedAt: Int? = nil,
    expiresOn: Int? = nil, _ more: JSONObject = [:]
  ) -> SampleRecord {
    var fields: JSONObject = ["realm": .string(realm), "target": .string(scopes)]
    fields["cached_at"] = text(cachedAt)
    fields["expires_on"] = text(expiresOn)
    return credential(.accessToken, secret, key, account, client, host, fields.merging(more) { $1 })
  }

  package static func refreshToken(
    _ secret: String, key: String? = nil, of account: String = "u.t", client: String = "c",
    host: String = "e", family: String? = nil, time: Int? = nil, _ more: JSONObject = [:]
  ) -> SampleRecord {
    var fields: JSONObject = [:]
    fields["family_id"] = family.map(JSONValue.string)
    fields["last_modification_time"] = text(time)
    return credential(.refreshToken, secret, key, account, client, host, fields.merging(more) { $1 })
  }

  package static func idToken(
    _ secret: String, key: String? = nil, of account: String = "u.t", client: String = "c",
    host: String = "e", realm: String = "t", _ more: JSONObject = [:]
  ) -> SampleRecord {
    let fields: JSONObject = ["realm": .string(realm)]
    return credential(.idToken, secret, key, account, client, host, fields.merging(more) { $1 })
  }

  package static func account(
    _ id: String = "u.t", key: String, host: String = "e", realm: String? = "t", _ more: JSONObject = [:]
  ) -> SampleRecord {
    var account = AccountRecord(homeAccountID: id, environment: host, realm: realm)
    account.fields.merge(more) { $1 }
    return SampleRecord { [account] in $0.accounts[key] = account }
  }

  package static func appMetadata(
    key: String, client: String = "c", host: String = "e", _ more: JSONObject = [:]
  ) -> SampleRecord {
    var metadata = AppMetadata(clientID: client, environment: host, familyID: nil)
    metadata.fields.merge(more) { $1 }
    return SampleRecord { [metadata] in $0.appMetadata[key] = metadata }
  }

  /// A credential with these fields alone.
  package static func credential(
    _ section: CredentialSection, key: String, _ fields: JSONObject
  ) -> SampleRecord {
    SampleRecord { $0[section][key] = Credential(fields: fields) }
  }

  private static func credential(
    _ type: CredentialType, _ secret: String, _ key: String?, _ account: String?, _ client: String,
    _ host: String, _ fields: JSONObject
  ) -> SampleRecord {
    var token = Credential(
      type: type, homeAccountID: account, environment: host, clientID: client, secret: secret)
    token.fields.merge(fields) { $1 }
    return credential(type.section, key: key ?? secret, token.fields)
  }

  private static func text(_ number: Int?) -> JSONValue? { number.map { .string("\($0)") } }
}

extension CacheDocument {
  package init(_ records: [SampleRecord]) {
    self.init()
    for record in records { record.add(&self) }
  }

  /// A cache that is given as JSON.
  package init(_ json: String) throws(CacheError) { try self.init(json: .init(json.utf8)) }
}
