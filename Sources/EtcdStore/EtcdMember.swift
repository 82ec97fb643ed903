import FoundationEssentials
import HTTPSupport
import HTTPTypes
import StoreSupport
public import TokenCache

/// What a member of a cluster reports of itself and of the cluster.
public struct EtcdMember: Sendable {
  /// Such as `3.4.23`.
  public let version: String
  /// Whether it leads the cluster.
  public let isLeader: Bool
  /// Whether it knows of a leader; without one it neither reads nor writes.
  public let hasLeader: Bool
  /// How long a linearizable read takes: the median of five.
  public let latency: Duration
  /// How large its database is, in bytes, and how much of that is in use.
  public let size: Int64
  public let sizeInUse: Int64
  /// How large the database may become, in bytes; `nil` where it does not report that.
  public let quota: Int64?
  /// The alarms that some member has raised, such as `NOSPACE`.
  public let alarms: Set<String>
  /// How far its clock is ahead of this machine's, in seconds, to a second or so; `nil` where it does not report that.
  public let clockOffset: Double?

  /// The versions that the store is for (https://etcd.io/blog/2022/data_inconsistency/).
  package static let supportedVersions =
    "3.4.10 or a later 3.4, or 3.5.3 or later: 3.5.0 to 3.5.2 can lose data"

  /// Whether a version is one of ``supportedVersions``.
  package static func isSupported(_ version: String) -> Bool {
    let number = version.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    let first = number.starts(with: [3, 4]) ? [3, 4, 10] : [3, 5, 3]
    return !number.lexicographicallyPrecedes(first)
  }
}

extension EtcdCacheStore {
  /// The addresses of the cluster's members that the store was given.
  public var endpoints: [String] { access.client.endpoints.map(\.description) }

  /// Asks each endpoint for its status, in the order in which they were given.
  ///
  /// - Parameter timeout: How long one has to respond.
  /// - Returns: The status of each, or why there is no response.
  public func members(timeout: Duration = .seconds(10)) async -> [Result<EtcdMember, CacheError>] {
    do throws(CacheError) {
      try await access.client.askForPassword()
    } catch {
      return access.client.endpoints.map { _ in .failure(error) }
    }
    return await withTaskGroup(of: (Int, Result<EtcdMember, CacheError>).self) { group in
      for (index, endpoint) in access.client.endpoints.enumerated() {
        group.addTask { [client = access.client.only(endpoint), key = access.names.keys] in
          do throws(EtcdFailure) {
            return (index, .success(try await client.member(asking: key, until: .now + timeout)))
          } catch {
            return (index, .failure(error.cacheError))
          }
        }
      }
      var members: [(Int, Result<EtcdMember, CacheError>)] = []
      for await member in group { members.append(member) }
      return members.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Checks whether the user may read and write below the store's prefix. Nothing is written.
  ///
  /// - Throws: ``CacheError`` where it may not, or where etcd is out of reach.
  public func checkRights() async throws(CacheError) {
    try await store.reading { (backend) throws(CacheError) in
      _ = try backend.page(of: backend.names.all, limit: 1)
      // etcd checks the rights to all that a transaction may do before it checks whether it is to do it.
      let keys = backend.names.keys
      _ = try backend.transaction(if: [.never(keys)], [.put(keys, [])])
    }
  }

  /// Begins to watch a group, and waits until the watch reports its changes.
  ///
  /// - Returns: How long ago that was confirmed.
  /// - Throws: ``CacheError/Code/timedOut``, when that takes too long, and when every lookup asks etcd.
  public func watchAge(of group: KeychainGroup, timeout: Duration = .seconds(10)) async throws(CacheError)
    -> Duration
  {
    let deadline = ContinuousClock.now + timeout
    while ContinuousClock.now < deadline, let watch = access.known(group).watch {
      if watch.generation != nil { return watch.age }
      do {
        try await Task.sleep(for: .milliseconds(5))
      } catch {
        throw EtcdBackend.cancelled
      }
    }
    throw CacheError(
      .timedOut, "etcd reports no changes to \(group.name), so every lookup asks it.",
      advice: "Check whether something between here and etcd, such as a proxy, buffers responses."
    )
  }
}

extension EtcdClient {
  /// How often the time is taken.
  private static let samples = 5

  fileprivate func member(
    asking key: String, until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdMember {
    let status = try await call("maintenance/status", [:], until: deadline).body
    // Such as "memberID:7103266686052791434 alarm:NOSPACE ".
    let alarms = (status["errors"]?.arrayValue ?? []).compactMap(\.stringValue).flatMap {
      $0.split(separator: " ")
    }
    .filter { $0.hasPrefix("alarm:") }.map { String($0.dropFirst("alarm:".count)) }
    let leader = status["leader"]?.stringValue ?? "0"
    let hasLeader = leader != "0"
    var times: [Duration] = []
    while hasLeader, times.count < Self.samples {
      let start = ContinuousClock.now
      do {
        _ = try await transaction([.get(key)], until: deadline)
      } catch {
        // A response without rights counts, too.
        guard case .refused = error.cause else { throw error }
      }
      times.append(ContinuousClock.now - start)
    }
    // A page that needs no user, where the endpoint has it.
    var head = endpoints[0].request("/metrics")
    head.method = .get
    let metrics = try? await transport.send(
      HTTPTransportRequest(
        head, timeout: max(deadline - .now, .zero), maximumBodySize: Self.maximumResponseSize))
    let clock = metrics?.head.headerFields[.date].flatMap(HTTPDate.parse)
    return EtcdMember(
      version: status["version"]?.stringValue ?? "",
      isLeader: leader == status["header"]?.objectValue?["member_id"]?.stringValue,
      hasLeader: hasLeader, latency: times.isEmpty ? .zero : times.sorted()[times.count / 2],
      size: try status.number("dbSize"), sizeInUse: try status.number("dbSizeInUse"),
      quota: metrics.flatMap { Self.quota(in: $0.body) }, alarms: Set(alarms),
      clockOffset: clock.map { $0.timeIntervalSinceNow })
  }

  /// The value of a metric in Prometheus's text format.
  private static func quota(in metrics: Data) -> Int64? {
    let name = "etcd_server_quota_backend_bytes "
    let line = metrics.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
    return line.flatMap { Double(String(decoding: $0.dropFirst(name.utf8.count), as: UTF8.self)) }
      .flatMap { Int64(exactly: $0.rounded()) }
  }
}
