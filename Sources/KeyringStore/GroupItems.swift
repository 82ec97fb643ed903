import SecretService
import TokenCache

/// The items that were found of a group, and what they hold together.
struct GroupItems {
  /// The items of each shard, empty and damaged ones included; of copies the newest first.
  private(set) var paths: [ShardID: [ObjectPath]] = [:]
  private var documents: [ShardID: CacheDocument] = [:]
  private var problems: [StoreProblem] = []

  var contents: GroupContents { GroupContents(documents: documents, problems: problems) }

  /// Whether there is more than one readable copy of a shard.
  func needsMerging(_ shard: ShardID) -> Bool {
    problems.contains { $0.shard == shard && $0.kind == .duplicate }
  }

  /// Takes in the items that were found for one shard.
  mutating func add(
    _ found: [ShardCopy], as shard: ShardID, of group: KeychainGroup, _ keyring: Keyring
  ) throws(CacheError) {
    let copies = try found.count < 2 ? found : newestFirst(found, as: shard, of: group, keyring)
    guard !copies.isEmpty else { return }
    paths[shard] = copies.map(\.path)
    for damage in copies.compactMap(\.damage) {
      problems.append(StoreProblem(.damaged, shard: shard, detail: damage.message))
    }
    let readable = copies.compactMap(\.document)
    guard var document = readable.last else { return }
    for newer in readable.dropLast().reversed() { document.takeIn(copy: newer) }
    documents[shard] = document
    if readable.count > 1 {
      problems.append(
        StoreProblem(.duplicate, shard: shard, detail: "\(readable.count) items hold this shard."))
    }
  }

  /// The copies of one shard, the one that was changed last first; items with other attributes left out.
  private mutating func newestFirst(
    _ found: [ShardCopy], as shard: ShardID, of group: KeychainGroup, _ keyring: Keyring
  ) throws(CacheError) -> [ShardCopy] {
    var dated: [(copy: ShardCopy, modified: UInt64)] = []
    for copy in found {
      guard let item = try keyring.item(copy.path) else { continue }
      if KeyringItem.isShard(shard, of: group, attributes: item.attributes) {
        dated.append((copy, item.modified))
      } else {
        problems.append(.foreign)
      }
    }
    return dated.sorted { ($0.modified, $0.copy.path.description) > ($1.modified, $1.copy.path.description) }
      .map(\.copy)
  }

  /// Notes an item that has the group's name but is not of this version.
  mutating func note(
    stranger path: ObjectPath, _ keyring: Keyring, _ group: KeychainGroup
  ) throws(CacheError) {
    guard let item = try keyring.item(path) else { return }
    let shard = item.attributes[KeyringItem.Attribute.shard].map(ShardID.init(rawValue:))
    if item.attributes[KeyringItem.Attribute.schema] == KeyringItem.schema,
      let version = item.attributes[KeyringItem.Attribute.version]
    {
      problems.append(
        StoreProblem(
          .newerVersion, shard: shard,
          detail: "An item has version \(version); this program knows version \(KeyringItem.version)."))
    } else {
      problems.append(.foreign)
    }
  }
}

extension StoreProblem {
  fileprivate static var foreign: StoreProblem {
    StoreProblem(.foreign, shard: nil, detail: "An item with the group's name has other attributes.")
  }
}
