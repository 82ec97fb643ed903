import Dispatch
import GLibSupport
import Sealing
import Synchronization
import TokenCache

extension EtcdCacheStore {
  /// Runs work that needs the keys, and again after they had to be unsealed. `isWriting` says whether a store is made
  /// where there is none.
  func withKeys<T: Sendable>(
    makingStore isWriting: Bool = false, _ work: () async throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await client.askForPassword()
    return try await keys.withKeys(work) { [self] (cancellable) throws(CacheError) in
      if let value = try waiting({ [self] () async throws(CacheError) in try await keysValue() }) {
        return try keys.unseal(
          value.value, called: "etcd's value \(names.keys)", advice: Self.withoutKeys, cancellable)
      }
      guard isWriting else { return }
      guard try waiting({ [self] () async throws(CacheError) in try await isEmpty() }) else { return }
      try keys.make(cancellable) { (sealed) throws(CacheError) in
        // Where another machine was faster, its keys are there, and are unsealed next.
        _ = try waiting { [self] () async throws(CacheError) in try await put(sealed, inPlaceOf: nil) }
      }
    }
  }

  /// Whether a store without keys does not exist yet. Another machine may have made it meanwhile; its keys were there
  /// before its shards.
  ///
  /// - Throws: ``CacheError/Code/damaged`` where there are shards that keys which are gone would open.
  func isEmpty() async throws(CacheError) -> Bool {
    if try await groups().isEmpty { return true }
    guard try await keysValue() != nil else { throw EtcdFindings.keysAreGone(names) }
    return false
  }

  static let withoutKeys =
    "Restore it from a backup of the whole store, or choose another prefix and sign in again."

  /// The data keys, sealed; `nil` where there is no store.
  func keysValue() async throws(CacheError) -> EtcdValue? {
    do throws(EtcdFailure) {
      let value = try await client.transaction([.get(names.keys)], until: ContinuousClock.now + timeout)
        .value(0, of: names.keys)
      if let value, value.value.count > SealedKeys.maximumSize {
        throw EtcdFailure.malformed("\(names.keys) is longer than it can be")
      }
      return value
    } catch {
      throw error.cacheError(writing: false)
    }
  }

  /// Puts sealed data keys in the place of others.
  ///
  /// - Returns: What is there then.
  func put(_ sealed: [UInt8], inPlaceOf old: EtcdValue?) async throws(CacheError) -> EtcdValue {
    let present: EtcdValue?
    do throws(EtcdFailure) {
      let outcome = try await client.transaction(
        if: [EtcdCondition(key: names.keys, modRevision: old?.modRevision ?? 0)], [.put(names.keys, sealed)],
        otherwise: [.get(names.keys)], until: ContinuousClock.now + timeout)
      present =
        outcome.succeeded
        ? EtcdValue(key: Array(names.keys.utf8), value: sealed, modRevision: outcome.revision)
        : try outcome.value(0, of: names.keys)
    } catch {
      throw error.cacheError(writing: true)
    }
    // One of several copies of the request was the first.
    if let present, old == nil || present.value == sealed { return present }
    throw CacheError(.refused, "Somebody else changes the keys of the store.", advice: "Try again.")
  }

  /// Seals every shard again that an older key seals.
  func reseal(_ keys: DataKeys, _ present: EtcdValue) async throws(CacheError) -> RekeySummary {
    var shards: [(ShardID, KeychainGroup)] = []
    var summary = RekeySummary()
    do throws(EtcdFailure) {
      var rest = names.all
      while true {
        let page = try await client.page(
          of: rest, limit: 1000, keysOnly: true, until: ContinuousClock.now + timeout)
        for value in page.values {
          if case .shard(let shard, let group) = names.part(value.key) { shards.append((shard, group)) }
        }
        guard page.hasMore, let last = page.values.last else { break }
        rest = rest.after(last.key)
      }
      for (shard, group) in shards { try await reseal(shard, of: group, keys, present, &summary) }
    } catch {
      throw error.cacheError(writing: true)
    }
    return summary
  }

  /// Seals a shard again. Nobody who reads it has to know.
  private func reseal(
    _ shard: ShardID, of group: KeychainGroup, _ keys: DataKeys, _ present: EtcdValue,
    _ summary: inout RekeySummary
  ) async throws(EtcdFailure) {
    guard let bytes = shard.bytes else { return }
    let name = names.shard(shard, of: group)
    // Whoever writes meanwhile uses the present key.
    while let value = try await client.transaction([.get(name)], until: ContinuousClock.now + timeout).value(
      0, of: name)
    {
      let resealed: [UInt8]
      do throws(SealError) {
        let identity = SealedFormat.Identity(group: group, name: bytes)
        guard let sealed = try SealedFormat.resealed(value.value, as: identity, with: keys) else { return }
        resealed = sealed
      } catch {
        summary.leave(error)
        return
      }
      let outcome = try await client.transaction(
        if: [
          EtcdCondition(key: name, modRevision: value.modRevision),
          EtcdCondition(key: names.keys, modRevision: present.modRevision),
        ], [.put(name, resealed)], otherwise: [.get(names.keys)], until: ContinuousClock.now + timeout)
      summary.resealed += outcome.succeeded ? 1 : 0
      if outcome.succeeded { return }
      guard try outcome.value(0, of: names.keys)?.modRevision == present.modRevision else {
        throw EtcdFailure(cause: .timedOut(["Somebody else changes the keys of the store."]))
      }
    }
  }

  /// Waits for work on a thread that may be blocked.
  func waiting<T: Sendable>(
    _ work: @escaping @Sendable () async throws(CacheError) -> T
  ) throws(CacheError) -> T {
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<T, CacheError>?>(nil)
    Task {
      let result: Result<T, CacheError>
      do throws(CacheError) {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
      outcome.withLock { $0 = result }
      isDone.signal()
    }
    isDone.wait()
    guard let result = outcome.withLock({ $0 }) else { throw EtcdFailure.cancelled.cacheError(writing: true) }
    return try result.get()
  }
}
