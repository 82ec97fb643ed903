import TokenCache

/// What was in etcd of a group, all at one revision.
struct EtcdSnapshot: Sendable {
  let group: EtcdGroup
  let revision: Int64
  /// Whether it is memory, and nothing was read.
  let isAssumed: Bool
  /// The data keys, sealed.
  let keys: EtcdValue?
  let stamp: EtcdValue?
  /// What this writer left last.
  let writer: EtcdValue?
  private(set) var shards: [(id: ShardID, value: EtcdValue?)] = []
  /// Shards that were opened before, of which those that have not changed came without their values.
  let kept: [ShardID: EtcdGroup.Opened]
  /// The names of values that are not part of the format.
  private(set) var foreignNames: [String] = []

  /// How many shards are read in one request, as long as the response does not get too large.
  private static let step = 100

  /// What is there if no other writer was at work since this process wrote; `nil` where it does not have all of the shards in
  /// memory.
  init?(remembered shards: [ShardID], of group: EtcdGroup, _ names: EtcdNames) {
    let kept = group.kept(shards)
    guard let last = group.lastWrite, !shards.isEmpty, shards.allSatisfy({ kept[$0] != nil }) else {
      return nil
    }
    func unread(_ key: String, _ revision: Int64) -> EtcdValue {
      EtcdValue(key: Array(key.utf8), value: [], modRevision: revision)
    }
    self.group = group
    isAssumed = true
    revision = kept.values.reduce(last.revision) { max($0, $1.modRevision) }
    keys = last.keys
    stamp = nil
    writer = unread(group.writer, last.revision)
    self.kept = kept
    self.shards = shards.map { id in
      (id, kept[id].map { unread(names.shard(id, of: group.group), $0.modRevision) })
    }
  }

  /// Reads what every call needs, and shards.
  init(_ selection: ShardSelection, of group: EtcdGroup, _ backend: EtcdBackend) throws(CacheError) {
    let names = backend.names
    let wanted: [ShardID] = if case .some(let wanted) = selection { wanted } else { [] }
    let common = [names.keys, names.stamp(of: group.group), group.writer]
    let kept = group.kept(wanted)
    func get(_ ids: ArraySlice<ShardID>, at revision: Int64?) throws(CacheError) -> EtcdOutcome {
      let shards = ids.map { (key: names.shard($0, of: group.group), kept: kept[$0]) }
      if let revision {
        return try backend.transaction(shards.map { .get($0.key, revision: revision) })
      }
      return try backend.transaction(
        if: shards.compactMap { key, kept in
          kept.map { EtcdCondition(key: key, modRevision: $0.modRevision) }
        },
        common.map { .get($0) } + shards.map { $0.kept == nil ? .get($0.key) : .look($0.key) },
        otherwise: kept.isEmpty ? [] : (common + shards.map(\.key)).map { .get($0) })
    }
    var step = Self.step
    func part(
      _ rest: ArraySlice<ShardID>, at revision: Int64?
    ) throws(CacheError) -> (ArraySlice<ShardID>, EtcdOutcome) {
      while true {
        let ids = rest.prefix(step)
        do throws(CacheError) {
          return (ids, try get(ids, at: revision))
        } catch  where error.isTooLargeForEtcd && step > 1 {
          step /= 2
        }
      }
    }
    var (ids, outcome) = try part(wanted[...], at: nil)
    self.group = group
    self.kept = kept
    isAssumed = false
    revision = outcome.revision
    (keys, stamp, writer) = (outcome.values[0], outcome.values[1], outcome.values[2])
    shards = Array(zip(ids, outcome.values.dropFirst(common.count)))
    while ids.endIndex < wanted.endIndex {
      (ids, outcome) = try part(wanted[ids.endIndex...], at: revision)
      shards += Array(zip(ids, outcome.values))
    }
    guard selection == .all else { return }
    for value in try backend.values(in: names.group(group.group), at: revision) {
      switch names.part(value.key) {
      case .shard(let id, _): shards.append((id, value))
      case .own: break
      case .foreign: foreignNames.append(String(decoding: value.key, as: UTF8.self))
      }
    }
  }
}

extension CacheError {
  var isTooLargeForEtcd: Bool { (underlyingError as? EtcdFailure)?.isTooLarge == true }
}
