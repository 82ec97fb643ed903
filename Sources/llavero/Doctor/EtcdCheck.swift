import EtcdStore
import TokenCache

/// The members of etcd's cluster, and what they say of the database and the time.
struct EtcdCheck: Check {
  static let name = "etcd"

  /// Clocks may differ by so much, in seconds.
  private static let clockTolerance = 5.0
  /// How much of the quota may be in use before a warning.
  private static let fullness = 0.8

  let store: EtcdCacheStore

  func examine(_ patient: Patient) async -> [Finding] {
    let answers = Array(zip(store.endpoints, await store.members()))
    let members = answers.compactMap { endpoint, answer in
      (try? answer.get()).map { (endpoint: endpoint, member: $0) }
    }
    var findings = answers.map { (endpoint, answer) -> Finding in
      switch answer {
      case .success(let member): Self.finding(member, at: endpoint)
      case .failure(let error):
        members.isEmpty
          ? Finding.problem(error)
          : .warning(
            "\(endpoint): \((error.underlyingError as? EtcdFailure)?.outageReason ?? error.message)",
            advice: error.toolAdvice)
      }
    }
    guard !members.isEmpty else { return findings }
    if !members.contains(where: { $0.member.isLeader }) {
      findings.append(
        .warning(
          "The member that leads is none of the endpoints.", advice: "Name all of them with --endpoints."))
    }
    findings += Self.space(members)
    findings += members.compactMap { (endpoint, member) -> Finding? in
      guard let offset = member.clockOffset, abs(offset) > Self.clockTolerance else { return nil }
      return .warning(
        "The clock of \(endpoint) is \(Int(abs(offset).rounded())) s \(offset > 0 ? "ahead" : "behind").",
        advice: "etcd goes by no clock, but tokens end by this machine's: timedatectl status")
    }
    return findings
  }

  private static func finding(_ member: EtcdMember, at endpoint: String) -> Finding {
    guard member.hasLeader else {
      return .problem(
        "\(endpoint) knows of no leader.",
        advice: "More than half of the members have to reach each other: etcdctl endpoint status --cluster")
    }
    let time = (member.latency / .microseconds(100)).rounded() / 10
    let text =
      "\(endpoint) \(member.isLeader ? "leads" : "follows"): etcd \(printable(member.version)), answers in \(time) ms."
    // https://etcd.io/blog/2022/data_inconsistency/
    guard ["3.5.0", "3.5.1", "3.5.2"].contains(member.version) else { return .ok(text) }
    return .warning(
      text, advice: "This version can lose data when it is killed. Update it to 3.5.3 or later.")
  }

  private static func space(_ members: [(endpoint: String, member: EtcdMember)]) -> [Finding] {
    let alarms = Set(members.flatMap { $0.member.alarms })
    var findings: [Finding] = []
    if alarms.contains("NOSPACE") {
      findings.append(
        .problem(
          "etcd's database is full (NOSPACE), and takes no more writes.",
          advice: "Compact it, \"etcdctl defrag\" each member, then \"etcdctl alarm disarm\"; or raise "
            + "--quota-backend-bytes."))
    }
    findings += alarms.subtracting(["NOSPACE"]).sorted().map {
      Finding.problem(
        "etcd has raised the alarm \(printable($0)).", advice: "\"etcdctl alarm list\" says more.")
    }
    let largest = members.map { $0.member }.max { $0.size < $1.size }
    guard findings.isEmpty, let largest else { return findings }
    let megabytes = { (bytes: Int64) in "\(max(1, bytes / 1_000_000)) MB" }
    let use =
      "etcd's database has \(megabytes(largest.size)), of which \(megabytes(largest.sizeInUse)) are in use"
    guard let quota = largest.quota, quota > 0 else { return [.ok(use + ".")] }
    let text = use + "; it may have \(megabytes(quota))."
    guard Double(largest.size) > fullness * Double(quota) else { return [.ok(text)] }
    return [
      .warning(
        text,
        advice:
          "Compact it, or let etcd do so with --auto-compaction-retention; \"etcdctl defrag\" gives the room back."
      )
    ]
  }
}

/// Whether etcd's user may read and write where the store is.
struct EtcdRightsCheck: Check {
  static let name = "etcd_rights"

  let store: EtcdCacheStore

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(CacheError) {
      try await store.checkRights()
      return [.ok("etcd's user may read and write below the prefix.")]
    } catch {
      return [.problem(error)]
    }
  }
}

/// Whether etcd reports changes when they happen.
struct EtcdWatchCheck: Check {
  static let name = "etcd_watch"

  let store: EtcdCacheStore

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(CacheError) {
      let age = try await store.watchAge(of: Settings.current.group ?? .default)
      return [.ok("etcd tells of changes; that was confirmed \(Int(age / .milliseconds(1))) ms ago.")]
    } catch {
      return [.warning(error.message, advice: error.toolAdvice)]
    }
  }
}
