import Sealing
import TokenCache

/// What was found of a group in etcd, opened.
struct EtcdFindings {
  private let snapshot: EtcdSnapshot
  private let names: EtcdNames
  private let group: EtcdGroup
  /// `nil` where there is no store.
  private let keys: DataKeys?
  private var shards: [(id: ShardID, value: EtcdValue, opened: Result<EtcdGroup.Opened, SealError>)] = []

  /// Opens what is there. It is work.
  ///
  /// - Throws: ``CacheError`` when the keys have yet to be unsealed, or are gone.
  init(
    _ snapshot: EtcdSnapshot, _ group: EtcdGroup, _ names: EtcdNames, _ keys: StoreKeys,
    isWriting: Bool = false
  ) throws(CacheError) {
    self.snapshot = snapshot
    self.group = group
    self.names = names
    if snapshot.keys == nil, snapshot.shards.contains(where: { $0.value != nil }) {
      throw Self.keysAreGone(names)
    }
    guard snapshot.keys != nil || isWriting else {
      self.keys = nil
      return
    }
    let dataKeys = try keys.keys(in: snapshot.keys?.value)
    self.keys = dataKeys
    for (id, value) in snapshot.shards {
      guard let value, let name = id.bytes else {
        group.forget(id, at: snapshot.revision)
        continue
      }
      do throws(SealError) {
        let opened: EtcdGroup.Opened
        if let kept = snapshot.kept[id], kept.modRevision == value.modRevision {
          opened = kept
        } else {
          let (document, sequence) = try SealedFormat.document(
            in: value.value, of: name, in: group.group, with: dataKeys)
          opened = .init(document: document, sequence: sequence, modRevision: value.modRevision)
        }
        guard group.see(id, sequence: opened.sequence, at: snapshot.revision) else { throw .rolledBack }
        if snapshot.shards.count <= Self.maximumConditions { group.keep(id, opened) }
        shards.append((id, value, .success(opened)))
      } catch {
        group.drop(id)
        shards.append((id, value, .failure(error)))
      }
    }
  }

  static func keysAreGone(_ names: EtcdNames) -> CacheError {
    CacheError(
      .damaged, "etcd's value \(names.keys) is gone; without it nobody can open the store's others.",
      advice: EtcdCacheStore.withoutKeys, underlyingError: SealError.missing)
  }

  var contents: GroupContents {
    var problems: [StoreProblem] = []
    var documents: [ShardID: CacheDocument] = [:]
    for (id, _, opened) in shards {
      switch opened {
      case .success(let opened): documents[id] = opened.document
      case .failure(let error):
        let (kind, remedy) = error.problem(isManifest: false)
        problems.append(
          StoreProblem(kind, shard: id, detail: "etcd's value \(name(of: id)) \(error)", remedy: remedy))
      }
    }
    problems += snapshot.strangers.map {
      StoreProblem(.foreign, shard: nil, detail: "etcd's value \($0) is none of Llavero's.")
    }
    return GroupContents(documents: documents, problems: problems)
  }

  /// The shards that a removal of what is damaged removes.
  var removable: [(id: ShardID, modRevision: Int64)] {
    shards.compactMap { id, value, opened in
      guard case .failure(let error) = opened, error.problem(isManifest: false).1 == .removal else {
        return nil
      }
      return (id, value.modRevision)
    }
  }

  private func name(of shard: ShardID) -> String { names.shard(shard, of: group.group) }

  /// Changes what there is of shards.
  func plan<Result: Sendable>(
    _ ids: [ShardID], _ change: (inout GroupContents) throws(CacheError) -> Result
  ) throws(CacheError) -> EtcdUpdate<Result>.Plan {
    for case (let id, _, .failure(let error)) in shards {
      throw error.cacheError(of: "etcd's value \(name(of: id))", remedy: error.problem(isManifest: false).1)
    }
    let before = contents
    var contents = before
    let result = try change(&contents)
    var operations: [EtcdOperation] = []
    var written: [(ShardID, EtcdUpdate<Result>.Written?)] = []
    for id in ids where contents.documents[id] != before.documents[id] {
      guard let document = contents.documents[id], let keys else {
        operations.append(.delete(name(of: id)))
        written.append((id, nil))
        continue
      }
      let old = shards.first { $0.id == id }.flatMap { try? $0.opened.get().sequence } ?? 0
      let sequence = max(old, UInt64(snapshot.revision)) &+ 1
      let sealed = try SealedFormat.seal(
        document, of: id, in: group.group, sequence: sequence, with: keys.current)
      operations.append(.put(name(of: id), sealed))
      written.append((id, .init(document: document, sequence: sequence)))
    }
    return EtcdUpdate<Result>.Plan(
      result: result, conditions: conditions, operations: operations, written: written)
  }

  /// That everything is as it was read. Where that is much, nothing of the group may have changed.
  private var conditions: [EtcdCondition] {
    let keys = EtcdCondition(key: names.keys, modRevision: snapshot.keys?.modRevision ?? 0)
    guard snapshot.shards.count <= Self.maximumConditions else {
      let stamp = names.stamp(of: group.group)
      return [keys, EtcdCondition(key: stamp, modRevision: snapshot.stamp?.modRevision ?? 0)]
    }
    return [keys]
      + snapshot.shards.map { EtcdCondition(key: name(of: $0.id), modRevision: $0.value?.modRevision ?? 0) }
  }

  /// So many that there is room for as many operations in other transactions within.
  static let maximumConditions = 50
}
