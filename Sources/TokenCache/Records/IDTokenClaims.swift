package import FoundationEssentials

/// The claims of a JSON Web Token, read without a check of its signature.
///
/// By OpenID Connect Core 3.1.3.7 a client that received an ID token from the token endpoint over TLS may rely on the
/// connection for its origin.
public struct IDTokenClaims: Sendable, Hashable {
  /// Every claim.
  public let claims: JSONObject

  package init(claims: JSONObject) { self.claims = claims }

  /// Reads the payload of a token; `nil` if it is not a JSON Web Token.
  public init?(token: String) {
    let dot = UInt8(ascii: ".")
    guard let header = token.utf8.firstIndex(of: dot) else { return nil }
    let rest = token[token.utf8.index(after: header)...]
    guard let payload = Data(base64URL: rest[..<(rest.utf8.firstIndex(of: dot) ?? rest.endIndex)]),
      let claims = try? JSONObject(foreign: payload, within: .response)
    else { return nil }
    self.claims = claims
  }

  /// A claim that is a string and not blank.
  public func string(_ name: String) -> String? { claims[name]?.stringValue.nonBlank }

  public var subject: String? { string("sub") }
  public var objectID: String? { string("oid") }
  public var tenantID: String? { string("tid") }
  public var name: String? { string("name") }
  public var givenName: String? { string("given_name") }
  public var middleName: String? { string("middle_name") }
  public var familyName: String? { string("family_name") }
  public var alternativeAccountID: String? { string("altsecid") }
  /// `preferred_username`, or `upn` from v1 endpoints.
  public var username: String? { string("preferred_username") ?? string("upn") }
}

extension Data {
  /// Decodes base64url (RFC 4648 section 5), with or without padding.
  package init?(base64URL text: some StringProtocol) {
    var base64 = text.utf8.withContiguousStorageIfAvailable { unsafe Array($0) } ?? Array(text.utf8)
    while base64.last == UInt8(ascii: "=") { base64.removeLast() }
    for index in base64.indices {
      switch base64[index] {
      case UInt8(ascii: "-"): base64[index] = UInt8(ascii: "+")
      case UInt8(ascii: "_"): base64[index] = UInt8(ascii: "/")
      default: break
      }
    }
    base64 += repeatElement(UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
    self.init(base64Encoded: Data(base64))
  }

  /// Encodes to base64url without padding.
  package var base64URL: String {
    base64EncodedString().filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : String($0) }.joined()
  }
}

/// The `client_info` of a token response, which identifies the account across all tenants.
public struct ClientInfo: Sendable, Hashable {
  /// The text as the server sent it, base64url.
  public let raw: String
  /// The object id in the home tenant.
  public let uid: String
  /// The home tenant.
  public let utid: String

  /// Reads base64url JSON with `uid` and `utid`; `nil` for anything else.
  public init?(raw: String) {
    guard let json = Data(base64URL: raw),
      let members = try? JSONObject(foreign: json, within: .response),
      let uid = members["uid"]?.stringValue.nonBlank, let utid = members["utid"]?.stringValue.nonBlank
    else { return nil }
    self.raw = raw
    self.uid = uid
    self.utid = utid
  }

  /// `uid.utid` in lower case, the account's id in the cache.
  public var homeAccountID: String { "\(uid).\(utid)".normalized }
}
