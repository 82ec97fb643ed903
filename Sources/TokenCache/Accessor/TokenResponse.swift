public import FoundationEssentials

/// The response of a token endpoint, as far as the cache keeps it.
public struct TokenResponse: Sendable {
  /// All fields of the response.
  public let fields: JSONObject

  /// Reads the body of a successful response.
  ///
  /// - Throws: ``CacheError/Code/invalidResponse`` if it is not a JSON object, larger than 1 MiB, nested deeper than 64
  ///   levels or has more than 20,000 values.
  public init(json: Data) throws(CacheError) {
    do {
      fields = try JSONObject(foreign: json, within: .response)
    } catch {
      throw CacheError(.invalidResponse, "The token response cannot be read: \(error).")
    }
  }

  public init(fields: JSONObject) { self.fields = fields }

  private func string(_ name: String) -> String? { fields[name]?.stringValue.nonBlank }

  public var accessToken: String? { string("access_token") }
  public var refreshToken: String? { string("refresh_token") }
  public var idToken: String? { string("id_token") }
  public var tokenType: String? { string("token_type") }
  /// The scopes granted, separated by spaces.
  public var scope: String? { string("scope") }
  public var clientInfo: ClientInfo? { string("client_info").flatMap(ClientInfo.init(raw:)) }
  /// The family of clients that may use the refresh token.
  public var familyID: String? {
    if case .integer(let number) = fields["foci"] { "\(number)" } else { string("foci") }
  }
  public var speInfo: String? { string("spe_info") }
  public var claims: IDTokenClaims? { idToken.flatMap(IDTokenClaims.init(token:)) }

  /// When the access token expires: now if its lifetime is not positive, and in ten years at the latest. An absolute time wins
  /// over an interval, and without either it is one hour from now.
  public func expiresOn(at now: Date) -> Date {
    if let end = moment("expires_on", interval: "expires_in", at: now) {
      return min(end, now.addingTimeInterval(TokenLifetime.maximum))
    }
    let hasNoLifetime = fields["expires_in"]?.numberValue.map { $0 <= 0 } ?? false
    return hasNoLifetime ? now : now.addingTimeInterval(3600)
  }

  /// Until when the access token may be used while the token service is down; `nil` if not given.
  public func extendedExpiresOn(at now: Date) -> Date? {
    moment("ext_expires_on", interval: "ext_expires_in", at: now)
  }

  /// From when on the access token should be renewed; `nil` if not given.
  public func refreshOn(at now: Date) -> Date? {
    moment("refresh_on", interval: "refresh_in", at: now)
  }

  /// Servers write numbers as numbers or as strings. Zero, negative and absurd ones count as not given.
  private func moment(_ absolute: String, interval: String, at now: Date) -> Date? {
    let latest = 253_402_300_800.0
    func positive(_ name: String) -> Double? {
      fields[name]?.numberValue.flatMap { $0 > 0 && $0 < latest ? $0 : nil }
    }
    if let seconds = positive(absolute) { return Date(timeIntervalSince1970: seconds) }
    guard let seconds = positive(interval), now.timeIntervalSince1970 + seconds < latest else { return nil }
    return now.addingTimeInterval(seconds)
  }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
  /// The names of the fields, never a value.
  public var description: String { "TokenResponse(\(fields.keys.sorted().joined(separator: ", ")))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
