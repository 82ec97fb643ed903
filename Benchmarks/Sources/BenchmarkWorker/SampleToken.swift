import FoundationEssentials
import TokenCache

/// A token response of `sample.py`, and the request that it answers.
struct SampleToken {
  static let environment = "login.microsoftonline.com"
  static let clientID = "c0000000-0000-4000-8000-000000000001"

  let response: TokenResponse
  let request = TokenRequest(environment: environment, clientID: clientID)

  init(response: String) throws {
    self.response = try TokenResponse(json: Data(response.utf8))
  }

  var lookup: TokenLookup {
    TokenLookup(
      homeAccountID: response.clientInfo?.homeAccountID, environment: Self.environment,
      clientID: Self.clientID, realm: "common",
      scopes: response.scope.map { [String($0.prefix { $0 != " " })] } ?? [])
  }
}
