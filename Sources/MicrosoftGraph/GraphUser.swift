public import TokenCache

/// A user, with the requested properties.
public struct GraphUser: Codable, Sendable, Hashable {
  /// All members of the response without OData's annotations.
  public let properties: JSONObject

  public var id: String? { self["id"] }
  public var displayName: String? { self["displayName"] }
  public var mail: String? { self["mail"] }
  public var userPrincipalName: String? { self["userPrincipalName"] }
  public var givenName: String? { self["givenName"] }
  public var surname: String? { self["surname"] }
  public var jobTitle: String? { self["jobTitle"] }
  public var mobilePhone: String? { self["mobilePhone"] }
  public var officeLocation: String? { self["officeLocation"] }
  public var preferredLanguage: String? { self["preferredLanguage"] }
  public var businessPhones: [String] {
    properties["businessPhones"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  /// A property that is text; `nil` also if it was not requested.
  public subscript(name: String) -> String? { properties[name]?.stringValue }

  public init(properties: JSONObject) {
    self.properties = properties
  }

  public init(from decoder: any Decoder) throws {
    let members = try decoder.singleValueContainer().decode(JSONObject.self)
    properties = members.filter { !$0.key.hasPrefix("@odata.") }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(properties)
  }
}
