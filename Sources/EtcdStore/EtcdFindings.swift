import Sealing
import TokenCache

/// What was found of a group in etcd, opened.
struct EtcdFindings: Sendable {
  let snapshot: EtcdSnapshot
  private let names: EtcdNames
  /// `nil` where there is no store.
  private let keys: DataKeys?
  private var shards: [(id: ShardID, value: EtcdValue, opened: Result<EtcdGroup.Opened, SealError>)] = []

  /// Opens what is there, which takes time.
  ///
  /// - Throws: ``CacheError`` when the keys have yet to be unsealed, or are gone.
  init(_ snapshot: EtcdSnapshot, _ names: EtcdNames, _ keys: StoreKeys, isWriting: Bool) throws(CacheError) {
    self.snapshot = snapshot
    self.names = names
    if snapshot.keys == nil, snapshot.shards.contains(where: { $0.value != nil }) {
      throw EtcdBackend.keysAreGone(names)
    }
    guard snapshot.keys != nil || isWriting else {
      self.keys = nil
      return
    }
    let dataKeys = try keys.keys(in: snapshot.keys?.value)
    self.keys = dataKeys
    let group = snapshot.group
    group.keysRevision = snapshot.keys?.modRevision ?? 0
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

  var contents: GroupContents {
    let foreign = snapshot.foreignNames.map {
      StoreProblem(.foreign, shard: nil, detail: "etcd's value \($0) is not one of Llavero's.")
    }
    return SealedFormat.contents(
      shards.map { ($0.id, $0.opened.map(\.document)) }, called: { "etcd's value \(name(of: $0))" },
      otherProblems: foreign)
  }

  /// The shards that a removal of what is damaged removes.
  var removable: [EtcdWrite.Removable] {
    shards.compactMap { id, value, opened in
      guard case .failure(let error) = opened, error.problem(isManifest: false).1 == .removal else {
        return nil
      }
      return (id, value.modRevision)
    }
  }

  private func name(of shard: ShardID) -> String { names.shard(shard, of: snapshot.group.group) }

  /// What makes shards those of a change.
  func write(_ changes: [(id: ShardID, document: CacheDocument?)]) throws(CacheError) -> EtcdWrite {
    var write = EtcdWrite(conditions: conditions)
    for (id, document) in changes {
      guard let document, let keys else {
        write.operations.append(.delete(name(of: id)))
        write.written.append((id, nil))
        continue
      }
      let old = shards.first { $0.id == id }.flatMap { try? $0.opened.get().sequence } ?? 0
      let sequence = max(old, UInt64(snapshot.revision)) &+ 1
      let sealed = try SealedFormat.seal(
        document, of: id, in: snapshot.group.group, sequence: sequence, with: keys)
      write.operations.append(.put(name(of: id), sealed))
      write.written.append((id, (document, sequence)))
    }
    return write
  }

  /// That everything is as it was read. Where that is much, nothing of the group may have changed.
  private var conditions: [EtcdCondition] {
    let keys = EtcdCondition(key: names.keys, modRevision: snapshot.keys?.modRevision ?? 0)
    guard snapshot.shards.count <= Self.maximumConditions else {
      let stamp = names.stamp(of: snapshot.group.group)
      return [keys, EtcdCondition(key: stamp, modRevision: snapshot.stamp?.modRevision ?? 0)]
    }
    return [keys]
      + snapshot.shards.map { EtcdCondition(key: name(of: $0.id), modRevision: $0.value?.modRevision ?? 0) }
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
