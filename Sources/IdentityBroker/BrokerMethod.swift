import FoundationEssentials
import IdentityClient
import TokenCache

/// A method of `com.microsoft.identity.Broker1`, with the JSON text that it takes.
///
/// Microsoft documents none of it; the members are those that the clients known to work send. Each method takes a
/// protocol version and a correlation id besides, and returns a JSON text.
struct BrokerMethod {
  let name: String
  let body: JSONObject
  /// Whether a person is asked, who takes their time.
  var asksPerson = false
  /// Whether a broker may lack it. Himmelblau 3 responds to it as a broker that fails, or not at all.
  var isOptional = false

  /// The protocol version that every client sends.
  static let protocolVersion = "0.0"

  var text: String {
    // A body is neither large nor has a number that JSON has no word for, so the fallback is never reached.
    (try? JSONWriter.bytes(of: .object(body), within: .cache))
      .map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// Asks for the broker's version. The broker compares ours with nothing, but wants one.
  static let version = BrokerMethod(name: "getLinuxBrokerVersion", body: ["msalCppVersion": "1.28.0"])

  static func accounts(clientID: String) -> BrokerMethod {
    BrokerMethod(
      name: "getAccounts",
      body: ["clientId": .string(clientID.lowercased()), "redirectUri": .string(publicRedirectURI)])
  }

  /// Asks for a token without a person. The account is the whole object that the broker listed.
  static func tokenSilently(_ request: BrokerRequest, account: JSONObject) -> BrokerMethod {
    BrokerMethod(
      name: "acquireTokenSilently",
      body: ["authParameters": .object(parameters(of: request, account, type: 1))])
  }

  /// Asks for a token, and the person for it. The account is the whole object that the broker listed, if any.
  static func tokenInteractively(_ request: BrokerRequest, account: JSONObject?) -> BrokerMethod {
    var parameters = parameters(of: request, account, type: 6)
    if request.prompt != .promptIfNecessary { parameters["prompt"] = .string(request.prompt.rawValue) }
    return BrokerMethod(
      name: "acquireTokenInteractively", body: ["authParameters": .object(parameters)], asksPerson: true)
  }

  static func removal(of account: JSONObject, clientID: String) -> BrokerMethod {
    BrokerMethod(
      name: "removeAccount",
      body: ["clientId": .string(clientID.lowercased()), "account": .object(account)], isOptional: true)
  }

  /// The `type` is what the broker is to do: 1 uses its refresh token, 6 asks the person. Newer brokers check that it fits
  /// the method.
  private static func parameters(
    of request: BrokerRequest, _ account: JSONObject?, type: Int64
  ) -> JSONObject {
    let username = account?["username"]?.stringValue ?? request.account?.username ?? request.loginHint
    var parameters: JSONObject = [
      "account": account.map(JSONValue.object) ?? .null,
      "additionalQueryParametersForAuthorization":
        .object(request.extraQueryParameters.mapValues(JSONValue.string)),
      "authority": .string(request.authority.url.absoluteString),
      "authorizationType": .integer(type),
      "clientId": .string(request.clientID.lowercased()),
      "redirectUri": .string(redirectURI(of: request)),
      "requestedScopes": .array(request.scopes.map(JSONValue.string)),
      "username": .string(username ?? ""),
      "uxContextHandle": .integer(-1),
    ]
    parameters["decodedClaims"] = request.claims.map(JSONValue.string)
    parameters["accessTokenToRenew"] = request.tokenToReplace.map(JSONValue.string)
    return parameters
  }

  private static let nativeClientPath = "/common/oauth2/nativeclient"
  static let publicRedirectURI = "https://" + Authority.default.host + nativeClientPath

  /// The native client's URI of the cloud, which has to be registered for the client. A broker accepts no other.
  static func redirectURI(of request: BrokerRequest) -> String {
    if let own = request.redirectURI, own.path() == nativeClientPath {
      return own.absoluteString
    }
    guard CloudInstances.known.contains(request.authority.host) else { return publicRedirectURI }
    return "https://" + CloudInstances.known.preferredNetwork(of: request.authority.host) + nativeClientPath
  }
}
