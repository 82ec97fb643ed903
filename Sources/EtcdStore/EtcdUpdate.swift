import FoundationEssentials
import GLibSupport
import Sealing
import TokenCache

/// Carries the transactions of one call out, so that each is applied once or not at all.
///
/// Every transaction is for the present state of this writer's own value, and puts its own id there. So of all that this
/// writer sends, in whatever order and however often it arrives, one can be applied; the value says which; and that is known
/// whatever others have written since.
struct EtcdUpdate<Result: Sendable> {
  let client: EtcdClient
  let names: EtcdNames
  let group: EtcdGroup
  let deadline: ContinuousClock.Instant
  /// What was sent, and what its being applied means for the caller.
  private var sent: [(id: [UInt8], plan: Plan)] = []

  /// How often others may be faster.
  private static var maximumAttempts: Int { 200 }
  /// How many conditions or operations a transaction has at most: etcd takes 128 unless it is told otherwise.
  private static var maximumOperations: Int { 120 }

  init(_ group: EtcdGroup, _ names: EtcdNames, _ client: EtcdClient, until deadline: ContinuousClock.Instant)
  {
    self.group = group
    self.names = names
    self.client = client
    self.deadline = deadline
  }

  /// What a call wants to be done, for a state that it has seen.
  struct Plan: Sendable {
    let result: Result
    let conditions: [EtcdCondition]
    let operations: [EtcdOperation]
    /// What becomes of the shards that change; `nil` for one that goes.
    let written: [(id: ShardID, Written?)]
  }

  struct Written: Sendable {
    let document: CacheDocument
    let sequence: UInt64
  }

  /// Reads, plans and writes until nobody has written in between. What this process has in memory is tried first, unread:
  /// the transaction finds out whether it is still so.
  ///
  /// - Parameters:
  ///   - selection: What to read.
  ///   - makePlan: Called with what is there, or was, and again after others were faster.
  /// - Returns: The result of the plan that was carried out.
  /// - Throws: What `makePlan` throws, when nothing was written; ``CacheError`` when etcd does not do it.
  mutating func run(
    _ selection: ShardSelection, _ makePlan: (EtcdSnapshot) async throws(CacheError) -> Plan
  ) async throws(CacheError) -> Result {
    if case .some(let shards) = selection,
      let memory = EtcdSnapshot(remembered: shards, of: group, names),
      // Only what is written is compared with what is there.
      let plan = try? await makePlan(memory), !plan.operations.isEmpty, try await commit(plan, memory)
    {
      return plan.result
    }
    var pause = Duration.milliseconds(2)
    for _ in 0..<Self.maximumAttempts {
      let snapshot: EtcdSnapshot
      do {
        snapshot = try await EtcdSnapshot(selection, of: group, names, client, until: deadline)
      } catch {
        throw sent.isEmpty ? error.cacheError(writing: false) : error.unsettled
      }
      if let result = applied(snapshot.writer, snapshot.keys) { return result }
      let plan: Plan
      do throws(CacheError) {
        plan = try await makePlan(snapshot)
      } catch {
        if let result = try await settle(snapshot) { return result }
        throw error
      }
      guard !plan.operations.isEmpty else { return try await settle(snapshot) ?? plan.result }
      if try await commit(plan, snapshot) { return plan.result }
      do {
        try await Task.sleep(for: pause * Double.random(in: 0.5...1.5))
      } catch {
        throw EtcdFailure.cancelled.unsettled
      }
      pause = min(pause * 2, .milliseconds(100))
    }
    throw EtcdFailure(cause: .timedOut(["Others changed the same accounts again and again."])).unsettled
  }

  /// What it means that this writer's value is what it is, where it is that of something sent.
  private func applied(_ writer: EtcdValue?, _ keys: EtcdValue?) -> Result? {
    guard let writer, let plan = sent.first(where: { $0.id == writer.value })?.plan else { return nil }
    take(plan, at: writer.modRevision, keys)
    return plan.result
  }

  /// Takes note of what was written.
  private func take(_ plan: Plan, at revision: Int64, _ keys: EtcdValue?) {
    group.watch?.changed(at: revision)
    group.left = keys.map { .init(keys: $0, revision: revision) }
    for (id, written) in plan.written {
      if let written {
        _ = group.see(id, sequence: written.sequence, at: revision)
        group.keep(
          id, .init(document: written.document, sequence: written.sequence, modRevision: revision))
      } else {
        group.forget(id, at: revision)
      }
    }
  }

  /// Sends a transaction.
  ///
  /// - Returns: Whether it was applied; false where somebody has written meanwhile.
  private mutating func commit(_ plan: Plan, _ snapshot: EtcdSnapshot) async throws(CacheError) -> Bool {
    let id = randomBytes(16)
    let operations = Self.grouped(
      plan.operations + [.put(names.stamp(of: group.group), id)])
    do throws(EtcdFailure) {
      let lease = try await lease()
      sent.append((id, plan))
      let outcome = try await client.transaction(
        if: [EtcdCondition(key: group.writer, modRevision: snapshot.writer?.modRevision ?? 0)]
          + plan.conditions,
        operations + [.put(group.writer, id, lease: lease)], otherwise: [.get(group.writer)], until: deadline)
      guard !outcome.succeeded else {
        take(plan, at: outcome.revision, snapshot.keys)
        return true
      }
      // One of its copies may have been applied.
      let writer = try outcome.value(0, of: group.writer)
      guard let writer, writer.value == id else { return false }
      take(plan, at: writer.modRevision, snapshot.keys)
      return true
    } catch  where error.isLeaseNotFound {
      // The lease is gone, as after a backup was restored.
      group.lease = nil
      return false
    } catch {
      throw error.cacheError(writing: true)
    }
  }

  /// Sees to it that nothing that was sent is applied any more.
  ///
  /// - Returns: What was applied, if something was.
  private func settle(_ snapshot: EtcdSnapshot) async throws(CacheError) -> Result? {
    guard !sent.isEmpty else { return nil }
    do throws(EtcdFailure) {
      let outcome = try await client.transaction(
        if: [EtcdCondition(key: group.writer, modRevision: snapshot.writer?.modRevision ?? 0)],
        [.put(group.writer, randomBytes(16), lease: try await lease())], otherwise: [.get(group.writer)],
        until: deadline)
      return outcome.succeeded ? nil : applied(try outcome.value(0, of: group.writer), snapshot.keys)
    } catch {
      throw error.unsettled
    }
  }

  private func lease() async throws(EtcdFailure) -> Int64 {
    if let lease = group.lease { return lease }
    let lease = try await client.lease(seconds: EtcdGroup.leaseSeconds, until: deadline)
    group.lease = lease
    return lease
  }

  /// The operations, those of a large change in transactions of their own, which count as one.
  private static func grouped(_ operations: [EtcdOperation]) -> [EtcdOperation] {
    guard operations.count > maximumOperations / 2 else { return operations }
    // What a transaction counts is taken from what those in it may count.
    let size = maximumOperations / 2
    return stride(from: 0, to: operations.count, by: size).map { start in
      .all(Array(operations[start..<min(start + size, operations.count)]))
    }
  }
}

extension EtcdFailure {
  /// The error of a call that has sent something, and cannot know what became of it.
  fileprivate var unsettled: CacheError {
    EtcdFailure(cause: cause, outcomeIsUnknown: true).cacheError(writing: true)
  }
}
