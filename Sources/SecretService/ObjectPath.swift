/// Where an item or a collection is: its D-Bus object path, and the running service that gave it.
///
/// A keyring that was restarted may use the same path for another item. So a path is good only for the run of
/// the service it came from; afterwards every call with it fails with ``SecretServiceError/serviceGone``, and
/// the way to go on is to search again. Never store one.
public struct ObjectPath: Hashable, Sendable {
  package let path: String
  /// The service's unique name on the bus, which no other connection ever gets.
  package let owner: String
}

extension ObjectPath: CustomStringConvertible {
  /// The D-Bus object path.
  public var description: String { path }
}

extension ObjectPath {
  package var lastElement: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Where the collection is whose item is here.
  var collection: ObjectPath {
    ObjectPath(path: String(path.dropLast(lastElement.utf8.count + 1)), owner: owner)
  }

  func isInside(_ collection: ObjectPath) -> Bool {
    owner == collection.owner && path.hasPrefix(collection.path + "/")
  }
}
