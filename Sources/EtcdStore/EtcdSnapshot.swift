import TokenCache

/// What was in etcd of a group, all at one revision.
struct EtcdSnapshot: Sendable {
  let revision: Int64
  /// The data keys, sealed.
  let keys: EtcdValue?
  let stamp: EtcdValue?
  /// What this writer left last.
  let writer: EtcdValue?
  private(set) var shards: [(id: ShardID, value: EtcdValue?)] = []
  /// Shards that were opened before, of which those that have not changed came without their values.
  let kept: [ShardID: EtcdGroup.Opened]
  /// The names of values that have no business there.
  private(set) var strangers: [String] = []

  /// How many shards are got in one request, as long as the answer does not get too large.
  private static let step = 100

  /// What is there if nobody has written since this process did; `nil` where it does not have all of the shards in memory.
  init?(remembered shards: [ShardID], of known: EtcdGroup, _ names: EtcdNames) {
    let kept = known.kept(shards)
    guard let left = known.left, !shards.isEmpty, shards.allSatisfy({ kept[$0] != nil }) else { return nil }
    func unread(_ key: String, _ revision: Int64) -> EtcdValue {
      EtcdValue(key: Array(key.utf8), value: [], modRevision: revision)
    }
    revision = kept.values.reduce(left.revision) { max($0, $1.modRevision) }
    keys = left.keys
    stamp = nil
    writer = unread(known.writer, left.revision)
    self.kept = kept
    self.shards = shards.map { id in
      (id, kept[id].map { unread(names.shard(id, of: known.group), $0.modRevision) })
    }
  }

  /// Gets what every call needs, and shards.
  init(
    _ selection: ShardSelection, of known: EtcdGroup, _ names: EtcdNames, _ client: EtcdClient,
    until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) {
    let group = known.group
    let wanted: [ShardID] = if case .some(let wanted) = selection { wanted } else { [] }
    let common = [names.keys, names.stamp(of: group), known.writer]
    let kept = known.kept(wanted)
    self.kept = kept
    func get(_ ids: ArraySlice<ShardID>, at revision: Int64?) async throws(EtcdFailure) -> EtcdOutcome {
      if let revision {
        return try await client.transaction(
          ids.map { .getAt(names.shard($0, of: group), revision: revision) }, until: deadline)
      }
      let shards = ids.map { (key: names.shard($0, of: group), kept: kept[$0]) }
      return try await client.transaction(
        if: shards.compactMap { key, kept in kept.map { EtcdCondition(key: key, modRevision: $0.modRevision) }
        },
        common.map { .get($0) } + shards.map { $0.kept == nil ? .get($0.key) : .look($0.key) },
        otherwise: kept.isEmpty ? [] : (common + shards.map(\.key)).map { .get($0) }, until: deadline)
    }
    var step = Self.step
    func part(_ rest: ArraySlice<ShardID>, at revision: Int64?) async throws(EtcdFailure) -> (
      Int, EtcdOutcome
    ) {
      while true {
        let ids = rest.prefix(step)
        do throws(EtcdFailure) {
          return (ids.count, try await get(ids, at: revision))
        } catch  where error.isTooLarge && step > 1 {
          step /= 2
        }
      }
    }
    var (count, outcome) = try await part(wanted[...], at: nil)
    revision = outcome.revision
    keys = try outcome.value(0, of: common[0])
    stamp = try outcome.value(1, of: common[1])
    self.writer = try outcome.value(2, of: common[2])
    var rest = wanted[...]
    var first = common.count
    while true {
      for (index, id) in rest.prefix(count).enumerated() {
        shards.append((id, try outcome.value(first + index, of: names.shard(id, of: group))))
      }
      rest = rest.dropFirst(count)
      if rest.isEmpty { break }
      (count, outcome) = try await part(rest, at: revision)
      first = 0
    }
    guard selection == .all else { return }
    try await client.each(in: names.group(group), at: revision, until: deadline) { value in
      switch names.part(value.key) {
      case .shard(let id, _): shards.append((id, value))
      case .own: break
      case .foreign: strangers.append(String(decoding: value.key, as: UTF8.self))
      }
    }
  }
}

extension EtcdClient {
  /// How much a page is to hold, in bytes; etcd gives no more than four times that.
  private static let pageSize = 1 << 20

  /// Gets all values of a range, in pages of one revision.
  func each(
    in range: EtcdRange, at revision: Int64, until deadline: ContinuousClock.Instant,
    _ body: (EtcdValue) throws(EtcdFailure) -> Void
  ) async throws(EtcdFailure) {
    var rest = range
    var limit = 64
    while true {
      let page: EtcdPage
      do throws(EtcdFailure) {
        page = try await self.page(of: rest, at: revision, limit: limit, keysOnly: false, until: deadline)
      } catch  where error.isTooLarge && limit > 1 {
        limit /= 2
        continue
      }
      for value in page.values { try body(value) }
      guard page.hasMore, let last = page.values.last else { return }
      rest = rest.after(last.key)
      let size = page.values.reduce(0) { $0 + $1.value.count + $1.key.count + 64 }
      limit = min(max(Self.pageSize * page.values.count / size, 1), 1000)
    }
  }
}
