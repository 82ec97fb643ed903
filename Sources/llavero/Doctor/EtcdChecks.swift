import EtcdStore
import TokenCache

extension Check {
  /// Checks the members of etcd's cluster: version, leader, clock and database size.
  static let etcd = Check(name: "etcd") { setup in
    guard let store = setup.store as? EtcdCacheStore else { return [] }
    let responses = Array(zip(store.endpoints, await store.members()))
    let members = responses.compactMap { endpoint, response in
      (try? response.get()).map { (endpoint: endpoint, member: $0) }
    }
    var findings = responses.flatMap { (endpoint, response) -> [Finding] in
      switch response {
      case .success(let member): state(of: member, at: endpoint)
      case .failure(let error):
        members.isEmpty
          ? .problem(error)
          : .warning(
            "\(endpoint): \((error.underlyingError as? EtcdFailure)?.outageReason ?? error.message)",
            advice: error.toolAdvice)
      }
    }
    guard !members.isEmpty else { return findings }
    if !members.contains(where: { $0.member.isLeader }) {
      findings += .warning(
        "The leader is not among the endpoints.", advice: "Name all members in the store's address.")
    }
    findings += space(members.map { $0.member })
    for (endpoint, member) in members {
      // The largest accepted difference, in seconds.
      guard let offset = member.clockOffset, abs(offset) > 5 else { continue }
      findings += .warning(
        "The clock of \(endpoint) is \(Int(abs(offset).rounded())) s \(offset > 0 ? "ahead" : "behind").",
        advice: "etcd does not depend on clocks, but tokens expire by this machine's: timedatectl status")
    }
    return findings
  }

  private static func state(of member: EtcdMember, at endpoint: String) -> [Finding] {
    guard member.hasLeader else {
      return .problem(
        "\(endpoint) has no leader.",
        advice: "A majority of the members must reach each other: etcdctl endpoint status --cluster")
    }
    let time = (member.latency / .microseconds(100)).rounded() / 10
    let text =
      "\(endpoint) \(member.isLeader ? "leads" : "follows"): etcd \(printable(member.version)), answers in \(time) ms."
    guard !EtcdMember.isSupported(member.version) else { return .ok(text) }
    return .warning(text, advice: "Use \(EtcdMember.supportedVersions).")
  }

  private static func space(_ members: [EtcdMember]) -> [Finding] {
    let alarms = Set(members.flatMap { $0.alarms })
    var findings: [Finding] = []
    if alarms.contains("NOSPACE") {
      findings += .problem(
        "etcd's database is full (NOSPACE) and accepts no more writes.",
        advice: "Compact it, \"etcdctl defrag\" each member, then \"etcdctl alarm disarm\"; or raise "
          + "--quota-backend-bytes.")
    }
    for alarm in alarms.subtracting(["NOSPACE"]).sorted() {
      findings += .problem(
        "etcd has raised the alarm \(printable(alarm)).", advice: "See \"etcdctl alarm list\".")
    }
    guard findings.isEmpty, let largest = members.max(by: { $0.size < $1.size }) else { return findings }
    let megabytes = { (bytes: Int64) in "\(max(1, bytes / 1_000_000)) MB" }
    let use =
      "etcd's database has \(megabytes(largest.size)), \(megabytes(largest.sizeInUse)) of them in use"
    guard let quota = largest.quota, quota > 0 else { return .ok(use + ".") }
    let text = use + "; it may have \(megabytes(quota))."
    guard Double(largest.size) > 0.8 * Double(quota) else { return .ok(text) }
    return .warning(
      text,
      advice: "Compact it, or set --auto-compaction-retention; then \"etcdctl defrag\" frees the space.")
  }

  static let etcdRights = Check(name: "etcd_rights") { setup in
    guard let store = setup.store as? EtcdCacheStore else { return [] }
    do throws(CacheError) {
      try await store.checkRights()
      return .ok("etcd's user may read and write below the prefix.")
    } catch {
      return .problem(error)
    }
  }

  static let etcdWatch = Check(name: "etcd_watch") { setup in
    guard let store = setup.store as? EtcdCacheStore else { return [] }
    do throws(CacheError) {
      let age = try await store.watchAge(of: Settings.current.group ?? .default)
      return .ok("etcd reports changes; last confirmed \(Int(age / .milliseconds(1))) ms ago.")
    } catch {
      return .warning(error.message, advice: error.toolAdvice)
    }
  }
}
