import GLibSupport
import SecretService
import TokenCache

/// One collection of the keyring while a blocking job runs: reads, writes and removes the items of groups.
struct Keyring {
  private let client: SecretServiceConnection
  private let collection: CollectionProperties
  private let mayPrompt: Bool
  private let cancellable: Cancellable

  /// KeePassXC answers every new and every deleted item by a prompt, even where it asks nobody.
  init(
    _ client: SecretServiceConnection, collection: String?, mayPrompt: Bool, _ cancellable: Cancellable
  ) throws(CacheError) {
    (self.client, self.mayPrompt, self.cancellable) = (client, mayPrompt, cancellable)
    self.collection = try Self.calling { () throws(SecretServiceError) in
      try client.collection(named: collection, cancellable)
    }
  }

  /// Throws when nobody waits for the job any more.
  func checkDeadline() throws(CacheError) {
    if cancellable.isPastDeadline { throw CacheError(SecretServiceError.timedOut) }
    if cancellable.isCancelled { throw CacheError(SecretServiceError.cancelled) }
  }

  func unlock() throws(CacheError) {
    try Self.calling { () throws(SecretServiceError) in
      try client.unlock(collection.path, prompt: mayPrompt, cancellable)
    }
  }

  /// The groups that have an item, in alphabetical order.
  func groups() throws(CacheError) -> [KeychainGroup] {
    var groups: Set<KeychainGroup> = []
    var rest = try search([KeyringItem.Attribute.schema: KeyringItem.schema])
    // One look at an item's attributes for each group, not for each item.
    while let path = rest.first {
      rest.removeFirst()
      guard let name = try item(path)?.attributes[KeyringItem.Attribute.group] else { continue }
      if let group = try? KeychainGroup(name) { groups.insert(group) }
      let same = try Set(search([KeyringItem.Attribute.group: name]))
      rest.removeAll(where: same.contains)
    }
    return groups.sorted { $0.name < $1.name }
  }

  /// Reads the items of a group.
  func items(_ shards: ShardSelection, of group: KeychainGroup) throws(CacheError) -> GroupItems {
    switch shards {
    case .all: try allItems(of: group)
    case .some(let shards): try items(shards, of: group)
    }
  }

  /// Only what has exactly a shard's attributes is read: a search finds items with more of them too.
  private func items(_ shards: [ShardID], of group: KeychainGroup) throws(CacheError) -> GroupItems {
    var items = GroupItems()
    var found: [(item: ItemProperties, shard: ShardID)] = []
    for shard in shards {
      var strangers: [KeyringItem.Kind] = []
      var isThere = false
      let name = [KeyringItem.Attribute.group: group.name, KeyringItem.Attribute.shard: shard.rawValue]
      for path in try search(name) {
        guard let item = try item(path) else { continue }
        let kind = KeyringItem.kind(of: item.attributes, in: group)
        if kind == .shard(shard) {
          found.append((item, shard))
          isThere = true
        } else {
          strangers.append(kind)
        }
      }
      // What a later version left beside an item of this one does not hide it.
      for stranger in strangers where !isThere || stranger == .foreign { items.note(stranger) }
    }
    let secrets = try secrets(found.map(\.item.path))
    for (item, shard) in found {
      guard let secret = secrets[item.path] else { continue }
      items.add(ShardCopy(path: item.path, modified: item.modified, secret: secret), to: shard)
    }
    return items
  }

  /// What is in a shard says which it is; only where it does not, or where two say the same, are the
  /// attributes fetched, since that takes a call for each item.
  private func allItems(of group: KeychainGroup) throws(CacheError) -> GroupItems {
    var items = GroupItems()
    let paths = try search([
      KeyringItem.Attribute.schema: KeyringItem.schema, KeyringItem.Attribute.group: group.name,
      KeyringItem.Attribute.version: KeyringItem.version,
    ])
    let known = Set(paths)
    let strangers = try search([KeyringItem.Attribute.group: group.name]).filter { !known.contains($0) }
    // Somebody else may have thousands; only items of ours are looked at one by one.
    let ours =
      try strangers.isEmpty
      ? []
      : Set(
        search([
          KeyringItem.Attribute.schema: KeyringItem.schema, KeyringItem.Attribute.group: group.name,
        ]))
    for path in strangers {
      guard ours.contains(path) else {
        items.note(.foreign)
        continue
      }
      if let item = try item(path) { items.note(KeyringItem.kind(of: item.attributes, in: group)) }
    }
    var byShard: [ShardID?: [ShardCopy]] = [:]
    for (path, secret) in try secrets(paths) {
      let copy = ShardCopy(path: path, secret: secret)
      byShard[copy.document?.shard(in: group), default: []].append(copy)
    }
    for (shard, copies) in byShard {
      if let shard, copies.count == 1 {
        items.add(copies[0], to: shard)
        continue
      }
      for var copy in copies {
        guard let item = try item(copy.path) else { continue }
        let kind = KeyringItem.kind(of: item.attributes, in: group)
        if case .shard(let shard) = kind {
          copy.modified = item.modified
          items.add(copy, to: shard)
        } else {
          items.note(kind)
        }
      }
    }
    return items
  }

  /// Some of the items that a removal is about: all of them, or `limit`.
  func paths(
    _ removal: Removal, of group: KeychainGroup, limit: Int
  ) throws(CacheError) -> [ObjectPath] {
    var candidates = try search([
      KeyringItem.Attribute.schema: KeyringItem.schema, KeyringItem.Attribute.group: group.name,
    ])
    if removal == .damaged {
      let secrets = try secrets(candidates)
      candidates.removeAll { path in
        secrets[path].map { ShardCopy(path: path, secret: $0).damage == nil } ?? true
      }
    }
    var paths: [ObjectPath] = []
    for path in candidates {
      if paths.count == limit { break }
      guard let item = try item(path) else { continue }
      switch KeyringItem.kind(of: item.attributes, in: group) {
      case .shard: paths.append(path)
      case .otherVersion: if removal == .everything { paths.append(path) }
      case .foreign: break
      }
    }
    return paths
  }

  /// Writes one shard in place of the items it has, or removes those when there is nothing to write.
  func write(
    _ secret: SecretBytes?, to shard: ShardID, of group: KeychainGroup, replacing items: GroupItems
  ) throws(CacheError) {
    let paths = items.paths(of: shard)
    guard let secret else {
      for path in paths { try delete(path) }
      return
    }
    if let path = paths.first {
      // In place: one rewrite of the keyring's file, which a crash leaves either old or new.
      try Self.calling { () throws(SecretServiceError) in try client.setSecret(path, secret, cancellable) }
      for copy in paths.dropFirst() { try delete(copy) }
    } else {
      _ = try Self.calling { () throws(SecretServiceError) in
        try client.create(
          label: KeyringItem.label(shard, of: group), attributes: KeyringItem.attributes(shard, of: group),
          secret: secret, in: collection.path, prompt: mayPrompt, cancellable)
      }
    }
  }

  /// Deletes an item. One that is gone already is as good.
  func delete(_ path: ObjectPath) throws(CacheError) {
    try Self.calling { () throws(SecretServiceError) in
      do throws(SecretServiceError) {
        try client.delete(path, prompt: mayPrompt, cancellable)
      } catch .noSuchItem {}
    }
  }

  /// `nil` for an item that is gone.
  private func item(_ path: ObjectPath) throws(CacheError) -> ItemProperties? {
    try Self.calling { () throws(SecretServiceError) in
      do throws(SecretServiceError) {
        return try client.item(path, cancellable)
      } catch .noSuchItem {
        return nil
      }
    }
  }

  private func search(_ attributes: [String: String]) throws(CacheError) -> [ObjectPath] {
    try Self.calling { () throws(SecretServiceError) in
      let found = try client.search(attributes, in: collection.path, cancellable)
      guard found.locked.isEmpty else { throw .collectionLocked }
      return found.unlocked
    }
  }

  /// Reads items in one call. Items that are gone are left out.
  private func secrets(_ paths: [ObjectPath]) throws(CacheError) -> [ObjectPath: SecretBytes] {
    try Self.calling { () throws(SecretServiceError) in try client.secrets(of: paths, cancellable) }
  }

  private static func calling<T>(_ body: () throws(SecretServiceError) -> T) throws(CacheError) -> T {
    do {
      return try body()
    } catch {
      throw CacheError(error)
    }
  }
}
