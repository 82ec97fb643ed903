import TokenCache

extension EtcdClient {
  /// Carries operations out where all conditions hold, and others where not.
  ///
  /// - Parameters:
  ///   - conditions: What must hold.
  ///   - operations: What is done then.
  ///   - otherwise: What is done else.
  ///   - deadline: When to give up.
  /// - Returns: What came of it.
  /// - Throws: ``EtcdFailure``, as ``call(_:_:until:)`` does.
  func transaction(
    if conditions: [EtcdCondition] = [], _ operations: [EtcdOperation], otherwise: [EtcdOperation] = [],
    until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdOutcome {
    try EtcdOutcome(
      await call("kv/txn", Self.message(if: conditions, operations, otherwise: otherwise), until: deadline))
  }

  static func message(
    if conditions: [EtcdCondition], _ operations: [EtcdOperation], otherwise: [EtcdOperation]
  ) -> JSONObject {
    [
      "compare": .array(conditions.map(\.json)), "success": .array(operations.map(\.json)),
      "failure": .array(otherwise.map(\.json)),
    ]
  }

  /// The first values of a range.
  ///
  /// - Parameters:
  ///   - range: The range.
  ///   - revision: At which revision; at the present one for 0.
  ///   - limit: How many.
  ///   - keysOnly: Whether the values themselves are left out.
  ///   - deadline: When to give up.
  /// - Returns: The values, in the order of their keys.
  /// - Throws: ``EtcdFailure``, as ``call(_:_:until:)`` does.
  func page(
    of range: EtcdRange, at revision: Int64 = 0, limit: Int, keysOnly: Bool,
    until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdPage {
    try EtcdPage(
      await call(
        "kv/range",
        [
          "key": .base64(range.start), "range_end": .base64(range.end), "revision": .number(revision),
          "limit": .number(Int64(limit)), "keys_only": .bool(keysOnly),
        ], until: deadline), of: range)
  }

  /// A new lease, which ends after a number of seconds.
  func lease(seconds: Int64, until deadline: ContinuousClock.Instant) async throws(EtcdFailure) -> Int64 {
    let lease = try await call("lease/grant", ["TTL": .number(seconds)], until: deadline).body.number("ID")
    guard lease > 0 else { throw .malformed("it holds no lease") }
    return lease
  }
}
