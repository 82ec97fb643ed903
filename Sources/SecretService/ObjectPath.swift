/// The location of an item or a collection: its D-Bus object path, and the running service that returned it.
///
/// A keyring that was restarted may use the same path for another item. So a path is valid only until the service
/// ends; afterwards every call with it fails with ``SecretServiceError/serviceGone``, and the caller has to search
/// again. Never store one.
public struct ObjectPath: Hashable, Sendable {
  package let path: String
  /// The service's unique name on the bus, which is never used again.
  package let owner: String
}

extension ObjectPath: CustomStringConvertible {
  /// The D-Bus object path.
  public var description: String { path }
}

extension ObjectPath {
  package var lastElement: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The last element as gnome-keyring named it: other bytes than letters and digits are `_` and two hexadecimal digits.
  var unescapedName: String {
    var parts = lastElement.split(separator: "_", omittingEmptySubsequences: false).map { Array($0.utf8) }
    let first = parts.removeFirst()
    let rest = parts.flatMap { part -> [UInt8] in
      guard let byte = UInt8(String(decoding: part.prefix(2), as: UTF8.self), radix: 16) else {
        return [UInt8(ascii: "_")] + part
      }
      return [byte] + part.dropFirst(2)
    }
    return String(decoding: first + rest, as: UTF8.self)
  }

  /// The collection of this item.
  package var collection: ObjectPath {
    ObjectPath(path: String(path.dropLast(lastElement.utf8.count + 1)), owner: owner)
  }
}

/// The properties of a collection.
package struct CollectionProperties: Hashable, Sendable {
  package let path: ObjectPath
  package let label: String
  package let isLocked: Bool
}

/// The properties of an item, without its secret.
package struct ItemProperties: Hashable, Sendable {
  package let path: ObjectPath
  /// A locked item's attributes may be hashed by the service.
  package let attributes: [String: String]
  package let label: String
  /// The time in seconds since 1970.
  package let modified: UInt64
  package let isLocked: Bool
}

/// The items that a search found.
package struct FoundItems: Hashable, Sendable {
  package let unlocked: [ObjectPath]
  /// Their secrets can be read only after their collection was unlocked.
  package let locked: [ObjectPath]
}
