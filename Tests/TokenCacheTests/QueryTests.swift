import TestSupport

@testable import TokenCache

/// The rules by which MSAL for iOS and macOS compares a query with the records that it does not name exactly, as far as
/// Microsoft's values do not show them.
struct QueryTests {
  @Test(arguments: [
    // Claims are compared to the letter, and none means none.
    (#"{"clientId": "c"}"#, "{}", true), (#"{"clientId": "c"}"#, #"{"requestedClaims": "A"}"#, false),
    (#"{"clientId": "c", "requestedClaims": "A"}"#, #"{"requestedClaims": "A"}"#, true),
    (#"{"clientId": "c", "requestedClaims": "a"}"#, #"{"requestedClaims": "A"}"#, false),
    (#"{"clientId": "c", "requestedClaims": " "}"#, "{}", true),
    // A query without client and family matches all of them.
    (#"{"realm": " T "}"#, #"{"clientId": "d", "familyId": "1", "requestedClaims": "A"}"#, true),
    // Any target with the client matches whatever the claims and family are.
    (
      #"{"clientId": "c", "familyId": "1", "targetMatchingOptions": "any"}"#, #"{"requestedClaims": "A"}"#,
      true
    ),
    (
      #"{"clientId": "c", "familyId": "1", "targetMatchingOptions": "any"}"#,
      #"{"clientId": "d", "requestedClaims": "A"}"#, false
    ),
    // A superset query takes the client or the family.
    (#"{"clientId": "c", "familyId": "1", "clientIdMatchingOptions": "superset"}"#, "{}", true),
    (
      #"{"clientId": "c", "familyId": "1", "clientIdMatchingOptions": "superset"}"#,
      #"{"clientId": "d", "familyId": "1"}"#, true
    ),
    (
      #"{"clientId": "c", "familyId": "1", "clientIdMatchingOptions": "superset"}"#,
      #"{"clientId": "d", "familyId": "2"}"#, false
    ),
  ])
  func `A query matches by its options`(_ query: String, _ token: String, _ matches: Bool) throws {
    let type: JSONObject = ["credentialType": "AccessToken"]
    let usual: JSONObject = [
      "homeAccountId": "u.t", "environment": "e", "clientId": "c", "realm": "t", "target": "s",
    ]
    func fields(_ json: String) throws -> JSONObject {
      try JSONObject(foreign: Data(json.utf8), within: .cache).merging(type) { $1 }
    }
    let credential = try Credential(vector: usual.merging(fields(token)) { $1 })
    #expect(try CredentialQuery(vector: fields(query)).matches(credential) == matches)
  }

  @Test(arguments: [
    ("environment", "login.windows.net", false), ("environment", "Login.Windows.net", true),
    ("environmentAliases", "login.windows.net", true),
  ])
  func `The host of an account is compared with its case but not among aliases`(
    _ field: String, _ host: String, _ matches: Bool
  ) throws {
    let record = AccountRecord(homeAccountID: "u.t", environment: "Login.Windows.net", realm: "t")
    let value = field == "environment" ? JSONValue.string(host) : .array([.string(host)])
    #expect(try AccountQuery(vector: ["accountType": "MSSTS", field: value]).matches(record) == matches)
  }
}
