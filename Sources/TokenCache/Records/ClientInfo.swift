import FoundationEssentials

/// The `client_info` of a token response: who the account is, across all tenants.
public struct ClientInfo: Sendable, Hashable {
  /// The text as the server sent it, base64url.
  public let raw: String
  /// The object id in the home tenant.
  public let uid: String
  /// The home tenant.
  public let utid: String

  /// Reads base64url JSON with `uid` and `utid`; `nil` when it is something else.
  public init?(raw: String) {
    guard let json = Data(base64URL: raw),
      let members = try? JSONObject(foreign: json, within: .response),
      let uid = members["uid"]?.stringValue.nonBlank, let utid = members["utid"]?.stringValue.nonBlank
    else { return nil }
    self.raw = raw
    self.uid = uid
    self.utid = utid
  }

  /// `uid.utid` in lower case, by which the cache knows the account.
  public var homeAccountID: String { "\(uid).\(utid)".normalized }
}
