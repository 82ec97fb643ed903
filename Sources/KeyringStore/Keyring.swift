import Dispatch
import GLibSupport
import SecretService
import StoreSupport
import Synchronization
import TokenCache

/// One collection of the keyring while a blocking job runs: reads, writes and removes the items of groups.
final class Keyring: StoreBackend {
  typealias Version = [ShardID: ShardItems]

  private typealias Attribute = KeyringItem.Attribute

  let access: KeyringAccess
  private let cancellable: Cancellable
  private var path: ObjectPath?

  init(_ access: KeyringAccess, _ cancellable: Cancellable) {
    (self.access, self.cancellable) = (access, cancellable)
  }

  private var client: SecretServiceConnection { access.connection }

  /// Where the collection is, which is unlocked; asked for when it is needed.
  private func collection() throws(SecretServiceError) -> ObjectPath {
    if let path { return path }
    let found = try client.path(ofUnlockedCollection: access.collection, cancellable)
    path = found
    return found
  }

  func groups() throws(CacheError) -> [KeychainGroup] { try access.calling(groupsWithItems()) }

  private func groupsWithItems() throws(SecretServiceError) -> [KeychainGroup] {
    var groups: Set<KeychainGroup> = []
    var rest = try search([Attribute.schema: KeyringItem.schema])
    // One look at an item's attributes for each group, not for each item.
    while let path = rest.first {
      rest.removeFirst()
      guard let name = try client.item(path, cancellable)?.attributes[Attribute.group] else { continue }
      if let group = try? KeychainGroup(name) { groups.insert(group) }
      let same = try Set(search([Attribute.group: name]))
      rest.removeAll(where: same.contains)
    }
    return groups.sorted { $0.name < $1.name }
  }

  func load(
    _ shards: ShardSelection, of group: KeychainGroup, _ turn: Turn?
  ) throws(CacheError) -> Loaded<Version> {
    switch shards {
    case .all: try access.calling(allItems(of: group)).loaded
    case .some(let shards): try access.calling(items(shards, of: group)).loaded
    }
  }

  private func items(_ shards: [ShardID], of group: KeychainGroup) throws(SecretServiceError) -> GroupItems {
    var items = GroupItems()
    var found: [(item: ItemProperties, shard: ShardID, isExact: Bool)] = []
    for shard in shards {
      let name = [Attribute.group: group.name, Attribute.shard: shard.rawValue]
      for path in try search(name) {
        guard let item = try client.item(path, cancellable) else { continue }
        let kind = KeyringItem.kind(of: item, in: group)
        if case .shard(shard, let isExact) = kind {
          found.append((item, shard, isExact))
        } else {
          items.note(kind)
        }
      }
    }
    let secrets = try client.secrets(of: found.map(\.item.path), cancellable)
    for (item, shard, isExact) in found {
      guard let secret = secrets[item.path] else { continue }
      let copy = ShardCopy(path: item.path, isExact: isExact, modified: item.modified, secret: secret)
      items.add(copy, to: shard)
    }
    return items
  }

  /// Where a new item takes the place of one that is changed, neither is found for a moment.
  func mayBeUnfinished(
    _ loaded: Loaded<Version>, of shards: ShardSelection, wasQuiet: Bool
  ) throws(CacheError) -> Bool {
    if wasQuiet { return false }
    if case .some(let shards) = shards, shards.allSatisfy({ loaded.version[$0] != nil }) { return false }
    if !client.keepsChanges, let path = loaded.version.values.first?.all.first {
      _ = try access.calling(client.item(path, cancellable))
    }
    return !client.keepsChanges
  }

  /// Reads items without a search. Only what is in them says that they still are what they were: the keyring may have
  /// given their paths to others.
  func known(
    _ shards: [ShardID], of group: KeychainGroup, _ last: Loaded<Version>?
  ) throws(CacheError) -> Loaded<Version>? {
    guard let last else { return nil }
    let paths = shards.compactMap { last.version[$0]?.exact.first }
    let secrets = try access.calling(client.secrets(of: paths, cancellable))
    let isCurrent = shards.allSatisfy { shard in
      guard let path = last.version[shard]?.exact.first, let secret = secrets[path] else { return false }
      return ShardCopy(path: path, secret: secret).document == last.contents.documents[shard]
    }
    return isCurrent ? last : nil
  }

  /// What is in a shard says which it is; only where it does not, or where two say the same, are the
  /// attributes fetched, since that takes a call for each item.
  private func allItems(of group: KeychainGroup) throws(SecretServiceError) -> GroupItems {
    var items = GroupItems()
    let paths = try search([
      Attribute.schema: KeyringItem.schema, Attribute.group: group.name,
      Attribute.version: KeyringItem.version,
    ])
    let known = Set(paths)
    let others = try search([Attribute.group: group.name]).filter { !known.contains($0) }
    // Another program may have thousands; only items of ours are read one by one.
    let ours =
      try others.isEmpty
      ? [] : Set(search([Attribute.schema: KeyringItem.schema, Attribute.group: group.name]))
    for path in others {
      guard ours.contains(path) else {
        items.note(.foreign)
        continue
      }
      if let item = try client.item(path, cancellable) { items.note(KeyringItem.kind(of: item, in: group)) }
    }
    for (shard, copies) in try copies(at: paths, in: group) {
      if let shard, copies.count == 1 {
        items.add(copies[0], to: shard)
        continue
      }
      for var copy in copies {
        guard let item = try client.item(copy.path, cancellable) else { continue }
        let kind = KeyringItem.kind(of: item, in: group)
        if case .shard(let shard, let isExact) = kind {
          (copy.modified, copy.isExact) = (item.modified, isExact)
          items.add(copy, to: shard)
        } else {
          items.note(kind)
        }
      }
    }
    return items
  }

  /// Reads items and sorts them by the shard that their records name.
  private func copies(
    at paths: [ObjectPath], in group: KeychainGroup
  ) throws(SecretServiceError) -> [ShardID?: [ShardCopy]] {
    // While the keyring looks for the next, those it found are decoded.
    let decoder = DispatchQueue(label: "llavero.keyring.decoder")
    let copies = Mutex<[ShardID?: [ShardCopy]]>([:])
    @Sendable func decode(_ secrets: [ObjectPath: SecretBytes]) {
      for (path, secret) in secrets {
        let copy = ShardCopy(path: path, secret: secret)
        let shard = copy.document?.shard(in: group)
        copies.withLock { $0[shard, default: []].append(copy) }
      }
    }
    try client.readSecrets(of: paths, cancellable) { secrets, isLast in
      // The last, which for most groups is all, on this thread.
      if isLast { decoder.sync { decode(secrets) } } else { decoder.async { decode(secrets) } }
    }
    return copies.withLock { $0 }
  }

  func encode(
    _ changes: [(id: ShardID, document: CacheDocument?)], of group: KeychainGroup,
    over loaded: Loaded<Version>
  ) throws(CacheError) -> [(shard: ShardID, secret: SecretBytes?)] {
    var encoded: [(shard: ShardID, secret: SecretBytes?)] = []
    for (id, document) in changes { encoded.append((id, try document?.secret())) }
    return encoded
  }

  /// Writes each shard in place of the item it has, or in a new one, and removes the others, or all when there is nothing to
  /// write.
  func commit(
    _ encoded: [(shard: ShardID, secret: SecretBytes?)], to group: KeychainGroup,
    over loaded: Loaded<Version>, _ turn: Turn
  ) throws(CacheError) -> Version? {
    var places = loaded.version
    turn.beginChange()
    defer { turn.endChange() }
    for (shard, secret) in encoded {
      let items = places[shard] ?? ShardItems()
      places[shard] = nil
      if let secret {
        let path = try write(secret, to: shard, of: group, inPlaceOf: items.exact.first)
        places[shard] = ShardItems(exact: [path])
      }
      try access.delete(items.all.filter { secret == nil || $0 != items.exact.first }, cancellable)
    }
    return places
  }

  private func write(
    _ secret: SecretBytes, to shard: ShardID, of group: KeychainGroup, inPlaceOf path: ObjectPath?
  ) throws(CacheError) -> ObjectPath {
    // Writing in place is one rewrite of the keyring's file, which a crash leaves either old or new.
    if let path { return try access.calling(client.setSecret(path, secret, cancellable)) }
    return try access.calling(
      client.create(
        label: KeyringItem.label(shard, of: group), attributes: KeyringItem.attributes(shard, of: group),
        secret: secret, in: collection(), prompt: access.mayPrompt, cancellable))
  }

  /// Removes items in small steps, so that neither other writers nor the deadline suffer from a large group.
  func remove(
    _ removal: Removal, from group: KeychainGroup, _ turn: Turn
  ) throws(CacheError) -> (count: Int, isDone: Bool) {
    let step = 16
    let paths = try access.calling(paths(removal, of: group, limit: step))
    guard !paths.isEmpty else { return (0, true) }
    turn.beginChange()
    defer { turn.endChange() }
    try access.delete(paths, cancellable)
    return (paths.count, paths.count < step)
  }

  /// Some of the items that a removal is about: all of them, or `limit`. Sign-out marks come after the tokens that they are
  /// about: they stand in items that a store wrote.
  private func paths(
    _ removal: Removal, of group: KeychainGroup, limit: Int
  ) throws(SecretServiceError) -> [ObjectPath] {
    var candidates = try search([Attribute.schema: KeyringItem.schema, Attribute.group: group.name])
    if removal == .damaged {
      let secrets = try client.secrets(of: candidates, cancellable)
      candidates.removeAll { path in
        // An empty one is what KWallet leaves when it ends before it has written the secret.
        secrets[path].map { ShardCopy(path: path, secret: $0).document != nil } ?? true
      }
    }
    var (others, exact): ([ObjectPath], [ObjectPath]) = ([], [])
    for path in candidates {
      if others.count + exact.count == limit { break }
      guard let item = try client.item(path, cancellable) else { continue }
      switch KeyringItem.kind(of: item, in: group) {
      case .shard(_, isExact: true): exact.append(path)
      case .shard(_, isExact: false): others.append(path)
      case .otherVersion, .foreign: if removal == .everything { others.append(path) }
      }
    }
    // A look at the whole wallet, which one step needs.
    let returned = others.count + exact.count < limit ? try returnedItems(of: group).map(\.path) : []
    return Array((others + exact + returned).prefix(limit))
  }

  /// The items that were removed, and are back since KWallet ended before it wrote its file: it then has their labels and
  /// secrets, and no attributes, so that no search for them finds any.
  ///
  /// Another program's item may be without attributes, too. So the label must be that of a shard, and what is in the item must
  /// be empty or the records of the very account that the label names by its hash.
  func returnedItems(
    of group: KeychainGroup? = nil
  ) throws(SecretServiceError) -> [(path: ObjectPath, group: KeychainGroup)] {
    guard try client.isKWallet(cancellable) else { return [] }
    var named: [ObjectPath: (group: KeychainGroup, beginning: String)] = [:]
    for path in try client.items(of: collection(), cancellable) {
      guard let item = try client.item(path, cancellable), item.ownAttributes.isEmpty,
        let label = KeyringItem.parsedLabel(item.label), group == nil || label.group == group
      else { continue }
      named[path] = label
    }
    let secrets = try client.secrets(of: named.keys.sorted { $0.path < $1.path }, cancellable)
    return secrets.compactMap { path, secret in
      guard let label = named[path] else { return nil }
      let copy = ShardCopy(path: path, secret: secret)
      let shard = copy.document?.shard(in: label.group)
      let isOurs = copy.isEmpty || shard.map(KeyringItem.beginning) == label.beginning
      return isOurs ? (path, label.group) : nil
    }
  }

  /// Whether a change reaches the disk only later.
  func writesLater() throws(SecretServiceError) -> Bool { try client.isKWallet(cancellable) }

  /// The collection in which an item of a group was last written; `nil` if that is this one. KeePassXC's default collection is
  /// the database of the open tab.
  func otherCollection(of group: KeychainGroup) throws(SecretServiceError) -> String? {
    let collection = try collection()
    // Not by the schema, which a collection that was never unlocked does not show.
    let found = try client.search(
      [Attribute.group: group.name, Attribute.version: KeyringItem.version], in: nil, cancellable)
    guard found.unlocked.contains(where: { $0.collection != collection }) else { return nil }
    var last: ItemProperties?
    for path in found.unlocked {
      if let item = try client.item(path, cancellable), item.modified > last?.modified ?? 0 { last = item }
    }
    guard let last = last?.path.collection, last != collection else { return nil }
    return try client.collection(named: last.lastElement, cancellable).label
  }

  private func search(_ attributes: [String: String]) throws(SecretServiceError) -> [ObjectPath] {
    let found = try client.search(attributes, in: collection(), cancellable)
    guard found.locked.isEmpty else {
      // All that may be wanted next, so that one prompt does.
      let wider = attributes.filter { [Attribute.schema, Attribute.group].contains($0.key) }
      throw .itemsLocked(try client.search(wider, in: collection(), cancellable).locked)
    }
    return found.unlocked
  }
}
