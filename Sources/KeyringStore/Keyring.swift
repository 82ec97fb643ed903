import GLibSupport
import SecretService
import TokenCache

/// One collection of the keyring while a blocking job runs: reads, writes and removes the items of groups.
struct Keyring {
  private let client: SecretServiceConnection
  private let collection: CollectionProperties
  private let cancellable: Cancellable

  init(
    _ client: SecretServiceConnection, collection: String?, _ cancellable: Cancellable
  ) throws(CacheError) {
    (self.client, self.cancellable) = (client, cancellable)
    self.collection = try Self.calling { () throws(SecretServiceError) in
      try client.collection(named: collection, cancellable)
    }
  }

  /// Throws when nobody waits for the job any more.
  func checkDeadline() throws(CacheError) {
    if cancellable.isPastDeadline { throw CacheError(SecretServiceError.timedOut) }
    if cancellable.isCancelled { throw CacheError(SecretServiceError.cancelled) }
  }

  func unlock(prompt: Bool) throws(CacheError) {
    try Self.calling { () throws(SecretServiceError) in
      try client.unlock(collection.path, prompt: prompt, cancellable)
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

  private func items(_ shards: [ShardID], of group: KeychainGroup) throws(CacheError) -> GroupItems {
    var items = GroupItems()
    var paths: [ShardID: [ObjectPath]] = [:]
    for shard in shards {
      let name = [KeyringItem.Attribute.group: group.name, KeyringItem.Attribute.shard: shard.rawValue]
      let version = [KeyringItem.Attribute.version: KeyringItem.version]
      paths[shard] = try search(name.merging(version) { name, _ in name })
      guard paths[shard]?.isEmpty ?? true else { continue }
      for path in try search(name) { try items.note(stranger: path, self, group) }
    }
    let copies = try copies(paths.values.flatMap { $0 })
    for shard in shards {
      try items.add((paths[shard] ?? []).compactMap { copies[$0] }, as: shard, of: group, self)
    }
    return items
  }

  private func allItems(of group: KeychainGroup) throws(CacheError) -> GroupItems {
    let name = [KeyringItem.Attribute.group: group.name]
    let paths = try search(
      name.merging([KeyringItem.Attribute.version: KeyringItem.version]) { name, _ in name })
    let ours = Set(paths)
    var items = GroupItems()
    for path in try search(name) where !ours.contains(path) { try items.note(stranger: path, self, group) }
    var byShard: [ShardID: [ShardCopy]] = [:]
    for copy in try copies(paths).values {
      if let shard = try shard(of: copy, in: group) { byShard[shard, default: []].append(copy) }
    }
    for (shard, copies) in byShard.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      try items.add(copies, as: shard, of: group, self)
    }
    return items
  }

  /// What is in a shard says which it is; only where it does not are the attributes fetched, since that takes
  /// a call for each item.
  private func shard(of copy: ShardCopy, in group: KeychainGroup) throws(CacheError) -> ShardID? {
    if let shard = copy.document?.shard(in: group) { return shard }
    return try item(copy.path)?.attributes[KeyringItem.Attribute.shard].map(ShardID.init(rawValue:))
  }

  /// The items that a removal is about.
  func paths(_ removal: Removal, of group: KeychainGroup) throws(CacheError) -> [ObjectPath] {
    switch removal {
    case .everything:
      return try search([
        KeyringItem.Attribute.schema: KeyringItem.schema, KeyringItem.Attribute.group: group.name,
      ])
    case .damaged:
      let paths = try search([
        KeyringItem.Attribute.schema: KeyringItem.schema, KeyringItem.Attribute.group: group.name,
        KeyringItem.Attribute.version: KeyringItem.version,
      ])
      return try copies(paths).values.filter { $0.damage != nil }.map(\.path)
    }
  }

  /// Writes one shard in place of the items it has, or removes those when it is empty.
  func write(
    _ document: CacheDocument, to shard: ShardID, of group: KeychainGroup, replacing items: inout GroupItems
  ) throws(CacheError) {
    let attributes = KeyringItem.attributes(shard, of: group)
    var paths: [ObjectPath] = []
    for path in items.paths[shard] ?? [] {
      // An item with more attributes than ours is somebody else's, though the search finds it.
      if let item = try item(path), KeyringItem.isShard(shard, of: group, attributes: item.attributes) {
        paths.append(path)
      }
    }
    if document.isEmpty {
      for path in paths { try delete(path) }
      return
    }
    let secret = try unsafe document.withJSON { unsafe SecretBytes(copying: $0) }
    if let path = paths.first {
      // In place: one rewrite of the keyring's file, which a crash leaves either old or new.
      try Self.calling { () throws(SecretServiceError) in try client.setSecret(path, secret, cancellable) }
      for copy in paths.dropFirst() { try delete(copy) }
    } else {
      let label = KeyringItem.label(shard, of: group)
      _ = try Self.calling { () throws(SecretServiceError) in
        try client.create(
          label: label, attributes: attributes, secret: secret, in: collection.path, prompt: false,
          cancellable)
      }
    }
  }

  /// Deletes an item. One that is gone already is as good.
  func delete(_ path: ObjectPath) throws(CacheError) {
    try Self.calling { () throws(SecretServiceError) in
      do throws(SecretServiceError) {
        try client.delete(path, prompt: false, cancellable)
      } catch .noSuchItem {}
    }
  }

  /// `nil` for an item that is gone.
  func item(_ path: ObjectPath) throws(CacheError) -> ItemProperties? {
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
  private func copies(_ paths: [ObjectPath]) throws(CacheError) -> [ObjectPath: ShardCopy] {
    let secrets = try Self.calling { () throws(SecretServiceError) in
      try client.secrets(of: paths, cancellable)
    }
    return Dictionary(uniqueKeysWithValues: secrets.map { ($0, ShardCopy(path: $0, secret: $1)) })
  }

  private static func calling<T>(_ body: () throws(SecretServiceError) -> T) throws(CacheError) -> T {
    do {
      return try body()
    } catch {
      throw CacheError(error)
    }
  }
}
