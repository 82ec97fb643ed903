import GLibSupport
import Sealing
public import TokenCache

extension EtcdCacheStore {
  /// How long a call waits for etcd to revoke the lease of its turn.
  private static let endTimeout = Duration.seconds(5)

  public func withRenewalTurn<Result: Sendable, Failure: Error>(
    of account: ShardID, in group: KeychainGroup, within timeout: Duration,
    _ renew: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let turn = try? await turn(of: account, in: group, until: ContinuousClock.now + timeout)
    do throws(Failure) {
      let result = try await renew()
      if let turn { await end(turn) }
      return result
    } catch {
      if let turn { await end(turn) }
      throw error
    }
  }

  /// Waits for the turn.
  ///
  /// - Returns: Its lease; `nil` where another machine has changed the account meanwhile, and at the deadline.
  private func turn(
    of account: ShardID, in group: KeychainGroup, until deadline: ContinuousClock.Instant
  ) async throws -> Int64? {
    var known: Int64?
    while ContinuousClock.now < deadline {
      let lease = try await access.client.lease(seconds: access.turnSeconds, until: deadline)
      let isTaken: Bool?
      do {
        isTaken = try await take(
          lease, of: account, in: group,
          until: min(deadline, ContinuousClock.now + .seconds(access.turnSeconds / 2)), &known)
      } catch {
        await end(lease)
        throw error
      }
      if isTaken == true { return lease }
      await end(lease)
      if isTaken == false { return nil }
    }
    return nil
  }

  /// Tries to take the turn with a lease.
  ///
  /// - Returns: Whether it did; false where another machine has changed the account since `known`, `nil` at the deadline.
  private func take(
    _ lease: Int64, of account: ShardID, in group: KeychainGroup, until deadline: ContinuousClock.Instant,
    _ known: inout Int64?
  ) async throws -> Bool? {
    let (name, shard, stamp) = (
      access.names.renewal(account), access.names.shard(account, of: group), access.names.stamp(of: group)
    )
    let id = randomBytes(16)
    var pause = Duration.milliseconds(50)
    while ContinuousClock.now < deadline {
      let outcome = try await access.client.transaction(
        if: [EtcdCondition(key: name, modRevision: 0)], [.put(name, id, lease: lease), .look(stamp)],
        otherwise: [.get(name), .look(stamp), .look(shard)], until: deadline)
      // What others did before this turn began has to be seen now.
      if let change = outcome.values[1] {
        access.known(group).watch?.changed(at: change.modRevision)
      }
      if outcome.succeeded || outcome.values[0]?.value == id { return true }
      let version = outcome.values[2]?.modRevision ?? 0
      if let known, known != version { return false }
      known = version
      try await Task.sleep(for: pause * Double.random(in: 0.5...1))
      pause = min(pause * 2, .milliseconds(500))
    }
    return nil
  }

  /// Lets the next machine go on, also when this call was cancelled. Where etcd does not respond, the lease runs out.
  private func end(_ lease: Int64) async {
    // The caller may hold a thread of the cooperative pool, as MSAL's methods that are not async do.
    await Task(executorPreference: QueueExecutor()) { [client = access.client] in
      _ = try? await client.call(
        "lease/revoke", ["ID": .number(lease)], until: ContinuousClock.now + Self.endTimeout)
    }.value
  }
}
