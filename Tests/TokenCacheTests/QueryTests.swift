import Testing

@testable import TokenCache

/// The rules by which MSAL for iOS and macOS compares a query with the records that it does not name exactly.
struct QueryTests {
  private func token(client: String = "client", family: String? = nil, claims: String? = nil) -> Credential {
    var token = Credential(
      type: .accessToken, homeAccountID: "uid.utid", environment: "login.windows.net", clientID: client,
      secret: "secret")
    token.realm = "contoso.com"
    token.target = "User.Read Mail.Read"
    token.familyID = family
    token.requestedClaims = claims
    return token
  }

  private func query(_ change: (inout CredentialQuery) -> Void) -> CredentialQuery {
    var query = CredentialQuery(.accessToken)
    change(&query)
    return query
  }

  @Test func `Claims are compared to the letter and none means none`() {
    #expect(query { $0.clientID = "client" }.matches(token()))
    #expect(!query { $0.clientID = "client" }.matches(token(claims: "A")))
    #expect(query { ($0.clientID, $0.requestedClaims) = ("client", "A") }.matches(token(claims: "A")))
    #expect(!query { ($0.clientID, $0.requestedClaims) = ("client", "a") }.matches(token(claims: "A")))
    #expect(query { ($0.clientID, $0.requestedClaims) = ("client", " ") }.matches(token()))
  }

  @Test func `A query without client and family matches all of them`() {
    let query = query { $0.realm = " CONTOSO.com " }
    #expect(query.matches(token(client: "other", family: "1", claims: "A")))
  }

  @Test func `Any target with the client matches whatever the claims and family are`() {
    let query = query { ($0.clientID, $0.familyID, $0.targetMatching) = ("client", "1", .any) }
    #expect(query.matches(token(claims: "A")))
    #expect(!query.matches(token(client: "other", claims: "A")))
  }

  @Test func `A superset query takes the client or the family`() {
    let either = query { ($0.clientID, $0.familyID, $0.clientMatching) = ("client", "1", .superset) }
    #expect(either.matches(token()))
    #expect(either.matches(token(client: "other", family: "1")))
    #expect(!either.matches(token(client: "other", family: "2")))
  }

  @Test func `The host of an account is compared with its case but not among aliases`() {
    let record = AccountRecord(homeAccountID: "uid.utid", environment: "Login.Windows.net", realm: "t")
    var query = AccountQuery()
    query.environment = "login.windows.net"
    #expect(!query.matches(record))
    query.environment = "Login.Windows.net"
    #expect(query.matches(record))
    query = AccountQuery()
    query.environmentAliases = ["login.windows.net"]
    #expect(query.matches(record))
  }

  @Test func `A scheme is read from the parameters of a request`() {
    #expect(AuthenticationScheme(parameters: [:]) == .bearer)
    #expect(AuthenticationScheme(parameters: ["token_type": "Bearer", "key_id": "k"]) == .bearer)
    #expect(
      AuthenticationScheme(parameters: ["token_type": "ssh-cert", "key_id": "k"])
        == .bound(tokenType: "ssh-cert", keyID: "k"))
    #expect(
      AuthenticationScheme(parameters: ["token_type": "Pop", "req_cnf": "eyJraWQiOiJrIn0"])
        == .bound(tokenType: "Pop", keyID: "k"))
  }
}
