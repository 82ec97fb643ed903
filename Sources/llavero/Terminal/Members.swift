import FoundationEssentials
import IdentityClient
import TokenCache

/// An object of `--json`, by the names of its members. Unknown ones, `nil` or empty text, are left out.
struct Members: Encodable, ExpressibleByDictionaryLiteral {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private let members: [(name: String, value: (any Encodable)?)]

  private init(members: [(name: String, value: (any Encodable)?)]) { self.members = members }

  init(dictionaryLiteral members: (String, (any Encodable)?)...) {
    self.init(members: members.map { ($0, $1) })
  }

  static func + (one: Members, other: Members) -> Members { Members(members: one.members + other.members) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for case (let name, let value?) in members where value as? String != "" {
      try container.encode(value, forKey: Name(stringValue: name))
    }
  }
}

// What every command says of an account and of a token, under one set of names.

extension Account {
  var members: Members {
    ["home_account_id": homeAccountID, "username": username, "environment": environment]
  }
}

extension Members {
  /// A token, without what it belongs to.
  static func token(
    of tenantID: String?, for scopes: [String]?, until end: Date?, _ state: RecordSummary.State? = nil
  ) -> Members {
    ["tenant_id": tenantID, "scopes": scopes, "expires_on": end, "state": state]
  }
}

extension AuthenticationResult {
  var members: Members { account.members + .token(of: tenantID, for: scopes, until: expiresOn) }
}

extension RecordSummary {
  var members: Members {
    [
      "id": id, "type": type, "home_account_id": homeAccountId, "username": username,
      "environment": environment, "client_id": clientId, "family_id": familyId, "cached_at": cachedAt,
    ] + .token(of: realm, for: target.map(ScopeSet.list), until: expiresOn, state)
  }
}
