import Sealing
package import TokenCache

extension EtcdCacheStore {
  /// How many values are removed in one transaction.
  private static let step = 50

  /// Removes all shards, readable or not, in steps.
  func removeEverything(in group: KeychainGroup) async throws(CacheError) -> Int {
    try await client.askForPassword()
    var count = 0
    var rest: EtcdRange? = names.group(group)
    while let range = rest {
      let deadline = ContinuousClock.now + timeout
      let page = try await reading { () async throws(EtcdFailure) in
        try await client.page(of: range, limit: Self.step, keysOnly: true, until: deadline)
      }
      let shards = page.values.compactMap { value in
        if case .shard(let id, _) = names.part(value.key) { id } else { nil }
      }
      if !shards.isEmpty { count += try await remove(shards, in: group) }
      rest = page.hasMore ? page.values.last.map { range.after($0.key) } : nil
    }
    return count
  }

  /// Removes what tells of a group's changes and stays when everything else is gone, for a group that nobody else knows of.
  ///
  /// - Parameter group: The group.
  /// - Throws: ``CacheError`` when etcd is out of reach.
  package func forget(_ group: KeychainGroup) async throws(CacheError) {
    try await reading { () async throws(EtcdFailure) in
      _ = try await client.transaction(
        [.delete(names.stamp(of: group))], until: ContinuousClock.now + timeout)
    }
  }

  /// Removes shards that are there, whatever is in them.
  private func remove(_ shards: [ShardID], in group: KeychainGroup) async throws(CacheError) -> Int {
    try await writing(in: group) { (update: inout EtcdUpdate<Int>) throws(CacheError) in
      try await update.run(.some(shards)) { (snapshot) throws(CacheError) in
        removal(of: snapshot.shards.compactMap { id, value in value.map { (id, $0.modRevision) } }, in: group)
      }
    }
  }

  /// What removes shards as long as they are what they were.
  private func removal(
    of shards: [(id: ShardID, modRevision: Int64)], in group: KeychainGroup
  ) -> EtcdUpdate<Int>.Plan {
    let names = shards.map { self.names.shard($0.id, of: group) }
    return EtcdUpdate<Int>.Plan(
      result: shards.count,
      conditions: zip(names, shards).map { EtcdCondition(key: $0, modRevision: $1.modRevision) },
      operations: names.map { .delete($0) },
      written: shards.map { ($0.id, nil) })
  }

  /// Removes shards that cannot be read and never will be.
  func removeDamaged(in group: KeychainGroup) async throws(CacheError) -> Int {
    let known = known(group)
    let damaged = try await withKeys { () async throws(CacheError) in
      let deadline = ContinuousClock.now + timeout
      let snapshot = try await reading { () async throws(EtcdFailure) in
        try await EtcdSnapshot(.all, of: known, names, client, until: deadline)
      }
      return try await run { [keys, names] () throws(CacheError) in
        try EtcdFindings(snapshot, known, names, keys).removable.map(\.id)
      }
    }
    var count = 0
    for start in stride(from: 0, to: damaged.count, by: Self.step) {
      let shards = Array(damaged[start..<min(start + Self.step, damaged.count)])
      count += try await writing(in: group) { (update: inout EtcdUpdate<Int>) throws(CacheError) in
        try await update.run(.some(shards)) { (snapshot) throws(CacheError) in
          try await run { [self] () throws(CacheError) in
            removal(of: try EtcdFindings(snapshot, known, names, keys).removable, in: group)
          }
        }
      }
    }
    return count
  }
}
