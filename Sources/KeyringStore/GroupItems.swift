import FoundationEssentials
import SecretService
import StoreSupport
import TokenCache

/// Where a shard is, each list with the newest first.
struct ShardItems: Sendable {
  /// Of the items with exactly a shard's attributes the first is written in place.
  var exact: [ObjectPath] = []
  /// Those with more attributes, in whose place a write makes a new item.
  var edited: [ObjectPath] = []

  var all: [ObjectPath] { edited + exact.reversed() }
}

/// The items that were found of a group, and what they hold together.
struct GroupItems {
  private var copies: [ShardID: [ShardCopy]] = [:]
  private var others: [KeyringItem.Kind] = []
  /// In seconds since 1970. A keyring that gives an item a later date does not know it.
  private static let endOfYear9999: UInt64 = 253_402_300_800

  mutating func add(_ copy: ShardCopy, to shard: ShardID) {
    copies[shard, default: []].append(copy)
  }

  /// Notes an item that has the group's name but is not of this version.
  mutating func note(_ kind: KeyringItem.Kind) { others.append(kind) }

  private func problem(of kind: KeyringItem.Kind) -> StoreProblem? {
    switch kind {
    case .shard: nil
    // What a later version left beside an item of this one does not hide it.
    case .otherVersion(let version, let shard) where shard.map { copies[$0] == nil } ?? true:
      StoreProblem(
        .newerVersion, shard: shard,
        detail: "An item has version \(version); this program knows version \(KeyringItem.version).")
    case .otherVersion, .foreign:
      StoreProblem(.foreign, shard: nil, detail: "An item with the group's name has other attributes.")
    }
  }

  /// What the items hold, and where those of each shard are, empty and damaged ones included; of copies the newest first.
  var loaded: Loaded<Keyring.Version> {
    var documents: [ShardID: CacheDocument] = [:]
    var problems = others.compactMap(problem)
    var unmerged: Set<ShardID> = []
    var paths: Keyring.Version = [:]
    for (shard, copies) in copies.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let copies = copies.sorted {
        ($0.modified, $0.path.description) > ($1.modified, $1.path.description)
      }
      paths[shard] = ShardItems(
        exact: copies.filter(\.isExact).map(\.path), edited: copies.filter { !$0.isExact }.map(\.path))
      for copy in copies {
        guard let damage = copy.damage else { continue }
        var problem = StoreProblem(.damaged, shard: shard, detail: damage.message)
        if (1..<Self.endOfYear9999).contains(copy.modified) {
          problem.modified = Date(timeIntervalSince1970: Double(copy.modified))
        }
        problems.append(problem)
      }
      let readable = copies.compactMap(\.document)
      guard var document = readable.last else { continue }
      for newer in readable.dropLast().reversed() { document.merge(newer, in: .known) }
      documents[shard] = document
      if readable.count > 1 {
        unmerged.insert(shard)
        problems.append(
          StoreProblem(.duplicate, shard: shard, detail: "\(readable.count) items hold this shard."))
      }
      if copies.contains(where: { !$0.isExact }) {
        unmerged.insert(shard)
        problems.append(
          StoreProblem(.edited, shard: shard, detail: "An item has attributes that no store gave it."))
      }
    }
    return Loaded(GroupContents(documents: documents, problems: problems), paths, unmerged: unmerged)
  }
}
