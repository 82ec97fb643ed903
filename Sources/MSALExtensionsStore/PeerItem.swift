import FoundationEssentials
import GLibSupport
import SecretService
import StoreSupport
import TokenCache

/// The item of another program's cache, for a blocking job.
///
/// Items are matched by exactly equal attributes, and written in place: gnome-keyring's `CreateItem` with
/// `replace` also replaces items of other programs that have more attributes.
struct PeerItem {
  private let client: SecretServiceConnection
  private let collection: ObjectPath
  private let label: String
  private let attributes: [String: String]
  /// KeePassXC responds to every new and every deleted item with a prompt.
  private let mayPrompt: Bool
  private let cancellable: Cancellable

  init(
    label: String, attributes: [String: String], _ access: KeyringAccess, _ cancellable: Cancellable
  ) throws(SecretServiceError) {
    self.label = label
    self.attributes = attributes
    self.cancellable = cancellable
    client = access.connection
    mayPrompt = access.mayPrompt
    collection = try client.path(ofUnlockedCollection: access.collection, cancellable)
  }

  /// Finds the items, the newest first: two programs may have made one each at the same time.
  func found() throws(SecretServiceError) -> [(path: ObjectPath, payload: SecretBytes)] {
    // Without the schema if possible: a keyring that was never unlocked finds nothing by it.
    let others = attributes.filter { $0.key != PeerCache.schema }
    let search = try client.search(others.isEmpty ? attributes : others, in: collection, cancellable)
    guard search.locked.isEmpty else { throw .itemsLocked(search.locked) }
    var items: [ItemProperties] = []
    for path in search.unlocked {
      if let item = try client.item(path, cancellable), item.ownAttributes == attributes {
        items.append(item)
      }
    }
    items.sort { ($0.modified, $0.path.description) > ($1.modified, $1.path.description) }
    let secrets = try client.secrets(of: items.map(\.path), cancellable)
    return items.compactMap { item in secrets[item.path].map { (item.path, $0) } }
  }

  /// Writes to the newest item, or makes one, and deletes the others.
  func write(_ payload: SecretBytes, over paths: [ObjectPath]) throws(SecretServiceError) {
    if let path = paths.first {
      try client.setSecret(path, payload, cancellable)
      try delete(Array(paths.dropFirst()))
    } else {
      _ = try client.create(
        label: label, attributes: attributes, secret: payload, in: collection, prompt: mayPrompt, cancellable)
    }
  }

  func delete(_ paths: [ObjectPath]) throws(SecretServiceError) {
    for path in paths { try client.delete(path, prompt: mayPrompt, cancellable) }
  }
}
