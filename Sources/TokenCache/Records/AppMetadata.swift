/// The metadata of one client application in one cloud.
public struct AppMetadata: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) { self.fields = fields }

  package static let replacedFields: Set<String> = ["family_id"]
  package static let spellings: Set<String> = ["client_id", "environment"]

  /// Makes a record; an empty family id means that the client is known to have no family.
  public init(clientID: String, environment: String, familyID: String?) {
    fields = [:]
    set("client_id", clientID)
    set("environment", environment)
    self.familyID = familyID
  }

  public var clientID: String? { string("client_id") }
  public var environment: String? { string("environment") }

  /// The client's family, usually `1`. The empty string means that the client is known to belong to none; `nil` means
  /// unknown.
  public var familyID: String? {
    get { fields["family_id"]?.stringValue }
    set { set("family_id", newValue) }
  }

  /// The record's key in a serialized cache, as MSAL for Python, .NET and Java compute it.
  package var serializedKey: String { Self.key(["appmetadata", environment, clientID]) }
}
