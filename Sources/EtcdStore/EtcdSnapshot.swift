import GLibSupport
import Sealing
import StoreSupport
import TokenCache

/// What was in etcd of a group, all at one revision, and what it holds once it is opened.
struct EtcdSnapshot: Sendable {
  let group: EtcdGroup
  private let names: EtcdNames
  let revision: Int64
  /// Whether it is memory, and nothing was read.
  let isAssumed: Bool
  /// The data keys, sealed.
  let keys: EtcdValue?
  let stamp: EtcdValue?
  /// What this writer left last.
  let writer: EtcdValue?
  private var shards: [(id: ShardID, value: EtcdValue?)] = []
  /// Shards that were opened before, of which those that have not changed came without their values.
  private let kept: [ShardID: EtcdGroup.Opened]
  /// The names of values that are not part of the format.
  private var foreignNames: [String] = []
  /// Whether the group has no other shards.
  private var isWhole = false
  /// `nil` where there is no store.
  private var dataKeys: DataKeys?
  private var opened: [(id: ShardID, modRevision: Int64, shard: Result<EtcdGroup.Opened, SealError>)] = []

  /// How many shards are read in one request, as long as the response does not get too large.
  private static let step = 100

  /// What is there if no other writer was at work since this process read or wrote; `nil` where it does not have all of the
  /// shards in memory.
  init?(remembered shards: [ShardID], of group: EtcdGroup, _ names: EtcdNames) {
    let kept = group.kept(shards)
    guard let base = group.base, !shards.isEmpty, shards.allSatisfy({ kept[$0] != nil }) else {
      return nil
    }
    func unread(_ key: String, _ revision: Int64) -> EtcdValue {
      EtcdValue(key: Array(key.utf8), value: [], modRevision: revision)
    }
    (self.group, self.names) = (group, names)
    isAssumed = true
    // Nothing is kept that is newer.
    revision = base.revision
    keys = base.keys
    stamp = nil
    writer = unread(group.writer, base.writer)
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
    (self.group, self.names) = (group, names)
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
    isWhole = true
    for value in try backend.values(in: names.group(group.group), at: revision) {
      switch names.part(value.key) {
      case .shard(let id, _): shards.append((id, value))
      case .stamp: break
      case .foreign: foreignNames.append(String(decoding: value.key, as: UTF8.self))
      }
    }
  }

  /// Opens what is there, which takes time.
  ///
  /// - Throws: ``CacheError`` when the keys have yet to be unsealed, or are gone.
  mutating func open(_ storeKeys: StoreKeys, isWriting: Bool) throws(CacheError) {
    if keys == nil, shards.contains(where: { $0.value != nil }) { throw EtcdBackend.keysAreGone(names) }
    // What is restored later is not older than what was seen.
    if isWhole { group.forgetAll(but: Set(shards.map(\.id)), at: revision) }
    guard keys != nil || isWriting else { return }
    let dataKeys = try storeKeys.keys(in: keys?.value)
    self.dataKeys = dataKeys
    if let keys, !isAssumed {
      group.note(.init(keys: keys, writer: writer?.modRevision ?? 0, revision: revision))
    }
    let found = shards.concurrentMap { [group, kept] id, value -> Result<EtcdGroup.Opened, SealError>? in
      guard let value, let name = id.bytes else { return nil }
      if let kept = kept[id], kept.modRevision == value.modRevision { return .success(kept) }
      return .opening(value, of: name, in: group.group, with: dataKeys)
    }
    for ((id, value), shard) in zip(shards, found) {
      guard let value, let shard else {
        group.forget(id, at: revision)
        continue
      }
      do throws(SealError) {
        let shard = try shard.get()
        guard group.see(id, sequence: shard.sequence, at: revision) else { throw .rolledBack }
        if shards.count <= Self.maximumConditions { group.keep(id, shard) }
        opened.append((id, value.modRevision, .success(shard)))
      } catch {
        group.drop(id)
        opened.append((id, value.modRevision, .failure(error)))
      }
    }
  }

  var contents: GroupContents {
    let foreign = foreignNames.map {
      StoreProblem(.foreign, shard: nil, detail: "etcd's value \($0) is not one of Llavero's.")
    }
    return SealedFormat.contents(
      opened.map { ($0.id, $0.shard.map(\.document)) }, called: { "etcd's value \(name(of: $0))" },
      otherProblems: foreign)
  }

  /// The shards that a removal of what is damaged removes.
  var removable: [EtcdWrite.Removable] {
    opened.compactMap { id, modRevision, shard in
      guard case .failure(let error) = shard, error.problem(isManifest: false).1 == .removal else {
        return nil
      }
      return (id, modRevision)
    }
  }

  private func name(of shard: ShardID) -> String { names.shard(shard, of: group.group) }

  /// What makes shards those of a change.
  func write(_ changes: [(id: ShardID, document: CacheDocument?)]) throws(CacheError) -> EtcdWrite {
    var write = EtcdWrite(conditions: conditions)
    for (id, document) in changes {
      guard let document, let dataKeys else {
        write.operations.append(.delete(name(of: id)))
        write.written.append((id, nil))
        continue
      }
      let old = opened.first { $0.id == id }.flatMap { try? $0.shard.get().sequence } ?? 0
      let sequence = max(old, UInt64(revision)) + 1
      let sealed = try SealedFormat.seal(
        document, of: id, in: group.group, sequence: sequence, with: dataKeys)
      write.operations.append(.put(name(of: id), sealed))
      write.written.append((id, (document, sequence)))
    }
    return write
  }

  /// That everything is as it was read. Where that is much, nothing of the group may have changed.
  private var conditions: [EtcdCondition] {
    let keys = EtcdCondition(key: names.keys, modRevision: keys?.modRevision ?? 0)
    guard shards.count <= Self.maximumConditions else {
      return [keys, EtcdCondition(key: names.stamp(of: group.group), modRevision: stamp?.modRevision ?? 0)]
    }
    return [keys]
      + shards.map { EtcdCondition(key: name(of: $0.id), modRevision: $0.value?.modRevision ?? 0) }
  }

  /// So many that there is room for as many operations in other transactions within.
  static let maximumConditions = 50
}

/// What a commit does, for a state that was read.
struct EtcdWrite {
  let conditions: [EtcdCondition]
  var operations: [EtcdOperation] = []
  /// What the shards that change become; `nil` for one that is removed.
  var written: [(id: ShardID, (document: CacheDocument, sequence: UInt64)?)] = []

  typealias Removable = (id: ShardID, modRevision: Int64)
}

extension EtcdWrite {
  /// What removes shards as long as they are what they were, whatever is in them.
  init(removing shards: [Removable], of group: KeychainGroup, _ names: EtcdNames) {
    let keys = shards.map { names.shard($0.id, of: group) }
    conditions = zip(keys, shards).map { EtcdCondition(key: $0, modRevision: $1.modRevision) }
    operations = keys.map { .delete($0) }
    written = shards.map { ($0.id, nil) }
  }
}

extension Result<EtcdGroup.Opened, SealError> {
  fileprivate static func opening(
    _ value: EtcdValue, of name: [UInt8], in group: KeychainGroup, with keys: DataKeys
  ) -> Self {
    Result<_, SealError>(calling: try SealedFormat.document(in: value.value, of: name, in: group, with: keys))
      .map { .init(document: $0, sequence: $1, modRevision: value.modRevision) }
  }
}

extension CacheError {
  var isTooLargeForEtcd: Bool { (underlyingError as? EtcdFailure)?.isTooLarge == true }
}
