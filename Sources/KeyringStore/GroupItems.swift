import SecretService
import TokenCache

/// The items that were found of a group, and what they hold together.
struct GroupItems {
  private var copies: [ShardID: [ShardCopy]] = [:]
  private var strangers: [StoreProblem] = []

  /// Takes in an item of a shard.
  mutating func add(_ copy: ShardCopy, to shard: ShardID) {
    copies[shard, default: []].append(copy)
  }

  /// Notes an item that has the group's name but is not of this version.
  mutating func note(_ stranger: KeyringItem.Kind) {
    switch stranger {
    case .shard: break
    case .otherVersion(let version, let shard):
      strangers.append(
        StoreProblem(
          .newerVersion, shard: shard,
          detail: "An item has version \(version); this program knows version \(KeyringItem.version)."))
    case .foreign:
      strangers.append(
        StoreProblem(.foreign, shard: nil, detail: "An item with the group's name has other attributes."))
    }
  }

  /// The items of a shard, empty and damaged ones included; of copies the newest first.
  func paths(of shard: ShardID) -> [ObjectPath] { newestFirst(shard).map(\.path) }

  var anyPath: ObjectPath? { copies.values.first?.first?.path }

  /// Whether there is more than one readable copy of a shard.
  func needsMerging(_ shard: ShardID) -> Bool {
    (copies[shard] ?? []).count { $0.document != nil } > 1
  }

  var contents: GroupContents {
    var documents: [ShardID: CacheDocument] = [:]
    var problems = strangers
    for shard in copies.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      let copies = newestFirst(shard)
      for damage in copies.compactMap(\.damage) {
        problems.append(StoreProblem(.damaged, shard: shard, detail: damage.message))
      }
      let readable = copies.compactMap(\.document)
      guard var document = readable.last else { continue }
      for newer in readable.dropLast().reversed() { document.takeIn(copy: newer) }
      documents[shard] = document
      if readable.count > 1 {
        problems.append(
          StoreProblem(.duplicate, shard: shard, detail: "\(readable.count) items hold this shard."))
      }
    }
    return GroupContents(documents: documents, problems: problems)
  }

  private func newestFirst(_ shard: ShardID) -> [ShardCopy] {
    (copies[shard] ?? []).sorted {
      ($0.modified, $0.path.description) > ($1.modified, $1.path.description)
    }
  }
}
