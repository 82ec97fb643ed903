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
  let label: String
  let attributes: [String: String]
  let access: KeyringAccess
  /// The collection, which is unlocked.
  let collection: ObjectPath
  let cancellable: Cancellable

  /// Finds the items, the newest first: two programs may have made one each at the same time.
  func found() throws(SecretServiceError) -> [(path: ObjectPath, payload: SecretBytes)] {
    // Without the schema if possible: a keyring that was never unlocked finds nothing by it.
    let others = attributes.filter { $0.key != PeerCache.schema }
    let search = try access.connection.search(
      others.isEmpty ? attributes : others, in: collection, cancellable)
    guard search.locked.isEmpty else { throw .itemsLocked(search.locked) }
    var items: [ItemProperties] = []
    for path in search.unlocked {
      if let item = try access.connection.item(path, cancellable), item.ownAttributes == attributes {
        items.append(item)
      }
    }
    items.sort { ($0.modified, $0.path.description) > ($1.modified, $1.path.description) }
    let secrets = try access.connection.secrets(of: items.map(\.path), cancellable)
    return items.compactMap { item in secrets[item.path].map { (item.path, $0) } }
  }

  /// Writes to the newest item, or makes one, and deletes the others.
  func write(_ payload: SecretBytes, over paths: [ObjectPath]) throws(SecretServiceError) {
    if let path = paths.first {
      try access.connection.setSecret(path, payload, cancellable)
      try delete(Array(paths.dropFirst()))
    } else {
      _ = try access.connection.create(
        label: label, attributes: attributes, secret: payload, in: collection, prompt: access.mayPrompt,
        cancellable)
    }
  }

  func delete(_ paths: [ObjectPath]) throws(SecretServiceError) {
    for path in paths { try access.connection.delete(path, prompt: access.mayPrompt, cancellable) }
  }
}
