/// What the service tells about a collection.
public struct CollectionProperties: Hashable, Sendable {
  public let path: ObjectPath
  public let label: String
  public let isLocked: Bool
}

/// What the service tells about an item, apart from its secret.
public struct ItemProperties: Hashable, Sendable {
  public let path: ObjectPath
  /// A locked item's attributes may be hashed by the service.
  public let attributes: [String: String]
  public let label: String
  /// The time in seconds since 1970.
  public let created: UInt64
  /// The time in seconds since 1970.
  public let modified: UInt64
  public let isLocked: Bool
}

/// The items a search found.
public struct FoundItems: Hashable, Sendable {
  public let unlocked: [ObjectPath]
  /// The secrets of these can be read only after their collection was unlocked.
  public let locked: [ObjectPath]
}
