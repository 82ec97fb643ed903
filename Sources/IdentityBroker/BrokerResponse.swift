import FoundationEssentials
import GLibSupport
import IdentityClient
import TokenCache

/// Reads the JSON text of a broker's response, of any of the known brokers: Microsoft's up to version 2.0.1 and after it,
/// and Himmelblau's.
enum BrokerResponse {
  static func version(in text: String) throws(IdentityError) -> String {
    let fields = try members(in: text)
    switch fields["linuxBrokerVersion"] {
    case .string(let version) where !version.isEmpty: return version.printable()
    case .some(let value) where value.numberValue != nil: return "\(value.numberValue ?? 0)"
    default: throw .brokerFailed("its response has no version")
    }
  }

  static func accounts(in text: String) throws(IdentityError) -> [BrokerAccount] {
    let fields = try fields(of: text)
    if let refusal = BrokerRefusal(in: fields) {
      // Himmelblau reports this way that it has none.
      guard refusal.meansNoAccounts else { throw refusal.error }
      return []
    }
    guard let list = fields["accounts"]?.arrayValue else {
      throw .brokerFailed("its response has no list of accounts")
    }
    let accounts = list.compactMap { $0.objectValue.flatMap(BrokerAccount.init) }
    guard accounts.isEmpty == list.isEmpty else {
      throw .brokerFailed("its list of accounts names no account")
    }
    return accounts
  }

  static func token(in text: String, at now: Date) throws(IdentityError) -> BrokerToken {
    let fields = try members(in: text)
    guard let response = fields["brokerTokenResponse"]?.objectValue else {
      throw .brokerFailed("its response has no token")
    }
    guard let token = response.text("accessToken"),
      token.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw .brokerFailed("its response has no access token") }
    switch response["accessTokenType"] {
    case nil, .null: break
    case .string(let type) where type.lowercased() == "bearer": break
    case .some(let type) where type.numberValue == 0: break
    default: throw .brokerRefused("it gave a token of another type than Bearer")
    }
    let end = expiry(of: token, saying: response["expiresOn"], at: now)
    guard end > now else {
      throw .brokerRefused("it gave a token that has expired, or this machine's clock is wrong")
    }
    // Older versions of Himmelblau wrote an invalid ID token.
    let idToken = response.text("idToken")
    let claims = idToken.flatMap(IDTokenClaims.init(token:))
    return BrokerToken(
      accessToken: token, expiresOn: end, grantedScopes: scopes(response["grantedScopes"]),
      idToken: claims == nil ? nil : idToken,
      account: try account(in: response, claims))
  }

  /// Whether the response is an error, for whatever reason.
  static func isRefusal(_ text: String) throws(IdentityError) -> Bool {
    BrokerRefusal(in: try fields(of: text)) != nil
  }

  /// The members of a response that is not an error.
  static func members(in text: String) throws(IdentityError) -> JSONObject {
    let fields = try fields(of: text)
    if let refusal = BrokerRefusal(in: fields) { throw refusal.error }
    return fields
  }

  private static func fields(of text: String) throws(IdentityError) -> JSONObject {
    guard text.contains(where: { !$0.isWhitespace }) else { throw .brokerFailed("its response is empty") }
    do throws(ForeignJSONError) {
      return try JSONObject(foreign: Data(text.utf8), within: .response)
    } catch {
      throw .brokerFailed("its response cannot be read: \(error)")
    }
  }

  /// When a token ends: as it says itself where it is a JSON Web Token, for its readers go by that; else as the broker
  /// says, unless that is no time that a token can end at, as with Himmelblau 3.1.9, which adds seconds to
  /// milliseconds; else in an hour.
  static func expiry(of token: String, saying word: JSONValue?, at now: Date) -> Date {
    if let end = IDTokenClaims(token: token)?.claims["exp"]?.numberValue, end > 0, end < 253_402_300_800 {
      return Date(timeIntervalSince1970: end)
    }
    let said = word?.numberValue.map { Date(timeIntervalSince1970: $0 / 1000) }
    if let said, (60...90 * 86_400).contains(said.timeIntervalSince(now)) { return said }
    return now.addingTimeInterval(3600)
  }

  private static func scopes(_ value: JSONValue?) -> String? {
    switch value {
    case .string(let text): Optional(text).nonBlank
    case .array(let scopes): Optional(scopes.compactMap(\.stringValue).joined(separator: " ")).nonBlank
    default: nil
    }
  }

  /// Whose token it is, by the account that is there up to version 2.0.1, and by the client info.
  private static func account(
    in response: JSONObject, _ claims: IDTokenClaims?
  ) throws(IdentityError) -> Account? {
    let listed = response["account"]?.objectValue.flatMap(BrokerAccount.init)
    let info = response.text("clientInfo").flatMap(ClientInfo.init(raw:))
    if let listed, let info, listed.homeAccountID != info.homeAccountID {
      throw .brokerFailed("it gave a token and named two accounts")
    }
    if let listed { return BrokerAccount.accounts(in: [listed]).first }
    guard let info else { return nil }
    let named: JSONObject = [
      "homeAccountId": .string(info.homeAccountID), "clientInfo": .string(info.raw),
      "username": claims?.username.map(JSONValue.string) ?? .null,
      "name": claims?.name.map(JSONValue.string) ?? .null,
      "localAccountId": claims?.objectID.map(JSONValue.string) ?? .null,
      "realm": claims?.tenantID.map(JSONValue.string) ?? .null,
    ]
    return BrokerAccount(named).flatMap { BrokerAccount.accounts(in: [$0]).first }
  }
}

extension JSONObject {
  /// A member that is a string and not blank.
  func text(_ name: String) -> String? { self[name]?.stringValue.nonBlank }
}

extension IdentityError {
  /// The one error for all that is not a response. The reason is a clause without a full stop and without secrets.
  static func brokerFailed(_ reason: String) -> IdentityError {
    IdentityError(
      .brokerFailed, "The identity broker failed: \(reason).",
      advice: "Check whether it runs, and its log.")
  }

  /// The error of a broker that works and does not do what was asked.
  static func brokerRefused(_ reason: String) -> IdentityError {
    var error = brokerFailed(reason)
    error.brokerStatus = 0
    return error
  }
}
