/// The identity of a record, whatever its key is: two records for one thing have the same.
///
/// Hosts of one cloud are one environment, and `common` is the account's home tenant, so that a cache that several
/// libraries wrote is consistent.
package struct RecordIdentity: Hashable, Sendable {
  private var parts: [String]
  private var extraParameters: JSONValue?
  /// Only for access tokens: there is one token for each set of scopes.
  private var scopes: ScopeSet?

  fileprivate init(_ parts: [String]) { self.parts = parts }

  /// The identity of an access token without its scopes.
  init(siblingsOf credential: Credential, in clouds: CloudInstances) {
    parts = [
      (credential.string("credential_type") ?? "").normalized, credential.normalizedOwner,
      clouds.canonical(credential.environment ?? ""),
    ]
    extraParameters = credential.extraParameters
    switch credential.credentialType.section {
    case .accessToken:
      parts += [
        (credential.clientID ?? "").normalized, credential.tenant,
        (credential.applicationIdentifier ?? "").normalized, credential.schemeName,
      ]
      // Its type is unknown: it may be a family's refresh token.
      if credential.credentialType == .other { parts.append((credential.familyID ?? "").normalized) }
    case .idToken: parts += [(credential.clientID ?? "").normalized, credential.tenant]
    // MSAL for Python keeps one token of a family for each client.
    case .refreshToken:
      parts += [(credential.familyID ?? "").normalized, (credential.clientID ?? "").normalized]
    }
  }

  fileprivate init(_ credential: Credential, in clouds: CloudInstances) {
    self.init(siblingsOf: credential, in: clouds)
    guard credential.credentialType.section == .accessToken else { return }
    scopes = ScopeSet(credential.target ?? "")
  }

  fileprivate init(familyOf token: Credential, in clouds: CloudInstances) {
    self.init(siblingsOf: token, in: clouds)
    parts.removeLast()
  }
}

extension Credential {
  package var owner: String? { homeAccountID }

  package func identity(in clouds: CloudInstances) -> RecordIdentity { RecordIdentity(self, in: clouds) }

  /// Apple's library and MSAL.NET store a family's token under the family, with the client that stored it last.
  package func sharedIdentity(under key: String, in clouds: CloudInstances) -> RecordIdentity? {
    guard credentialType.section == .refreshToken, familyID != nil, key == serializedKey else { return nil }
    return RecordIdentity(familyOf: self, in: clouds)
  }
}

extension AccountRecord {
  package var owner: String? { homeAccountID }

  package func identity(in clouds: CloudInstances) -> RecordIdentity {
    RecordIdentity([normalizedOwner, clouds.canonical(environment ?? ""), tenant])
  }
}

extension AppMetadata {
  package func identity(in clouds: CloudInstances) -> RecordIdentity {
    RecordIdentity([clouds.canonical(environment ?? ""), (clientID ?? "").normalized])
  }

  /// A record with a family id, even an empty one, is kept over one without.
  package func merged(with incoming: AppMetadata) -> AppMetadata {
    incoming.familyID == nil && familyID != nil ? self : incoming.replacing(self)
  }
}

extension AccountMetadata {
  package func identity(in clouds: CloudInstances) -> RecordIdentity {
    RecordIdentity([(clientID ?? "").normalized])
  }

  /// The union of both, account by account; of two values the imported one counts.
  package func merged(with incoming: AccountMetadata) -> AccountMetadata {
    AccountMetadata(fields: incoming.fields.union(with: fields)).replacing(self)
  }
}
