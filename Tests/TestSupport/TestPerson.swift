package import FoundationEssentials
package import TokenCache
import WorkerSupport

/// A user who signs in, and the tokens that a server would issue.
package struct TestPerson: Sendable {
  package let uid: String
  package let home: String
  package let username: String
  /// The tenant that issues the tokens.
  package var tenant: String?
  package var host = "login.microsoftonline.com"

  package init(
    uid: String = "8b6a0372-bcd7-5b99-9977-03cb5b3deb80",
    home: String = "22222222-2222-2222-2222-222222222222", username: String = "alice@contoso.test"
  ) {
    (self.uid, self.home, self.username) = (uid, home, username)
  }

  package static let alice = TestPerson()
  package static let bob = TestPerson(
    uid: "b0b00000-bcd7-5b99-9977-03cb5b3deb80", username: "bob@contoso.test")
  package static let carol = TestPerson(
    uid: "00000000-0000-0000-1111-222222222222", home: Tenant.personalAccounts, username: "carol@outlook.test"
  )

  package static let clientID = "11111111-aaaa-bbbb-cccc-000000000001"

  package var homeAccountID: String { "\(uid).\(home)" }
  package var issuingTenant: String { tenant ?? home }

  package var clientInfo: String {
    let fields: JSONObject = ["uid": .string(uid), "utid": .string(home)]
    return fields.base64URL
  }

  package func idToken(at now: Date, changing changes: JSONObject = [:], algorithm: String = "RS256")
    -> String
  {
    let start = Int64(now.timeIntervalSince1970)
    let claims: JSONObject = [
      "iss": .string("https://\(host)/\(issuingTenant)/v2.0"), "aud": .string(Self.clientID),
      "sub": .string("subject of \(uid) in \(issuingTenant)"), "oid": .string(uid),
      "tid": .string(issuingTenant), "preferred_username": .string(username), "name": "A Name",
      "iat": .integer(start), "nbf": .integer(start), "exp": .integer(start + 3600),
    ]
    let header: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
    let changed = claims.merging(changes) { $1 }.filter { $0.value != .null }
    return "\(header.base64URL).\(changed.base64URL).c2ln"
  }

  /// A token response. `null` takes a member out.
  package func tokens(
    at now: Date, scope: String = "User.Read", access: String = "access-1", refresh: String = "refresh-1",
    nonce: String? = nil, changing changes: JSONObject = [:], idToken: JSONObject = [:]
  ) -> JSONObject {
    var claims = idToken
    if let nonce, claims["nonce"] == nil { claims["nonce"] = .string(nonce) }
    let fields: JSONObject = [
      "token_type": "Bearer", "scope": .string(scope), "expires_in": .integer(3600),
      "ext_expires_in": .integer(7200), "access_token": .string(access), "refresh_token": .string(refresh),
      "id_token": .string(self.idToken(at: now, changing: claims)), "client_info": .string(clientInfo),
    ]
    return fields.merging(changes) { $1 }.filter { $0.value != .null }
  }
}
