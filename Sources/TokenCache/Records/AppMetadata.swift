/// The metadata of one client application in one cloud.
public struct AppMetadata: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) { self.fields = fields }

  package static let replacedFields: Set<String> = ["family_id"]
  package static let spellings: Set<String> = ["client_id", "environment"]

  /// Makes a record; an empty or missing family id means that the client has no family.
  public init(clientID: String, environment: String, familyID: String?) {
    fields = [:]
    set("client_id", clientID)
    set("environment", environment)
    self.familyID = familyID
  }

  public var clientID: String? { string("client_id") }
  public var environment: String? { string("environment") }

  /// The client's family, usually `1`. Empty or `nil`, as MSAL for Python writes it, it means that the client belongs to none:
  /// only of a client without a record the family is unknown.
  public var familyID: String? {
    get { fields["family_id"]?.stringValue }
    set { set("family_id", newValue) }
  }

  /// The record's key in a serialized cache, as MSAL for Python, .NET and Java compute it.
  package var serializedKey: String { Self.key(["appmetadata", environment, clientID]) }
}
