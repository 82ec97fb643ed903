import GLibSupport
import Sealing
public import TokenCache

extension EtcdCacheStore {
  /// For how long a machine that dies keeps the others from renewing, in seconds.
  private static let turnSeconds: Int64 = 30

  public func renewalTurn(
    of account: ShardID, in group: KeychainGroup, within timeout: Duration
  ) async -> (any RenewalTurn)? {
    let deadline = ContinuousClock.now + timeout
    do {
      return try await turn(of: account, in: group, until: deadline)
    } catch {
      return nil
    }
  }

  private func turn(
    of account: ShardID, in group: KeychainGroup, until deadline: ContinuousClock.Instant
  ) async throws -> EtcdTurn? {
    let (name, shard, stamp) = (
      names.renewal(account), names.shard(account, of: group), names.stamp(of: group)
    )
    let id = randomBytes(16)
    var pause = Duration.milliseconds(50)
    var known: Int64?
    while ContinuousClock.now < deadline {
      let lease = try await client.lease(seconds: Self.turnSeconds, until: deadline)
      let turn = EtcdTurn(client: client, lease: lease)
      let leaseEnd = ContinuousClock.now + .seconds(Self.turnSeconds / 2)
      while ContinuousClock.now < min(deadline, leaseEnd) {
        let outcome = try await client.transaction(
          if: [EtcdCondition(key: name, modRevision: 0)], [.put(name, id, lease: lease), .look(stamp)],
          otherwise: [.get(name), .look(stamp), .look(shard)], until: deadline)
        // What others did before this turn began has to be seen now.
        if let change = try outcome.value(1, of: stamp) {
          self.known(group).watch?.changed(at: change.modRevision)
        }
        if outcome.succeeded { return turn }
        if try outcome.value(0, of: name)?.value == id { return turn }
        let version = try outcome.value(2, of: shard)?.modRevision ?? 0
        if let known, known != version {
          turn.end()
          return nil
        }
        known = version
        try await Task.sleep(for: pause * Double.random(in: 0.5...1))
        pause = min(pause * 2, .milliseconds(500))
      }
      turn.end()
    }
    return nil
  }
}

/// A turn that ends with a lease.
private struct EtcdTurn: RenewalTurn {
  let client: EtcdClient
  let lease: Int64

  func end() {
    Task { [client, lease] in
      _ = try? await client.call(
        "lease/revoke", ["ID": .number(lease)], until: ContinuousClock.now + .seconds(10))
    }
  }
}
