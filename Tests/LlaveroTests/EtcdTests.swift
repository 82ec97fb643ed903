import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TokenCache

/// The commands on a store in etcd, over TLS and as a user.
@Suite(.timeLimit(.minutes(20)))
struct EtcdTests {
  private static let shared = Swift.Result { try EtcdCluster(one) }

  private static var one: EtcdCluster.Settings {
    var settings = EtcdCluster.Settings()
    settings.nodes = 1
    return settings
  }

  private let cluster: EtcdCluster
  private let tool: Tool

  init() throws {
    cluster = try Self.shared.get()
    tool = try Tool()
  }

  private func environment(_ more: [String: String?] = [:]) -> [String: String?] {
    [
      "LLAVERO_STORE": "etcd", "LLAVERO_ENDPOINTS": cluster.endpoints.joined(separator: ","),
      "LLAVERO_PREFIX": EtcdCluster.prefix, "LLAVERO_KEY": "file:" + cluster.keyFile,
      "LLAVERO_ETCD_USER": EtcdCluster.user, "LLAVERO_ETCD_PASSWORD": "file:" + cluster.passwordFile,
      "LLAVERO_CA_BUNDLE": cluster.caBundle,
    ].merging(more) { $1 }
  }

  private func run(
    _ arguments: String..., input: String = "", environment more: [String: String?] = [:]
  ) throws -> Child.Result {
    try tool.run(tool.inGroup(arguments), input: input, environment: environment(more))
  }

  private func load() throws {
    let result = try run("import", "-", input: Sample.cache)
    try #require(result.status == 0, "\(result.standardError)")
  }

  @Test func `Every command works on it, and the keyring is left alone`() throws {
    try load()
    let groups = try JSONValue(text: try run("groups", "--json").standardOutput)
    #expect(groups["groups"]?.strings("group").contains(tool.group) == true)
    let list = try JSONValue(text: try run("list", "--json").standardOutput)
    #expect(list["records"]?.arrayValue?.count == 10)
    #expect(try run("show", list["records"]?[0]?["id"]?.stringValue ?? "").status == 0)
    #expect(try run("accounts").standardOutput.contains("bob@contoso.example"))
    let alice = ["--client", Sample.mail, "--account", Sample.alice]
    let present = Sample.accessToken(
      "present", Sample.alice, Sample.mail, "Present.Read",
      expiresOn: "\(Int(Date().timeIntervalSince1970) + 3600)")
    #expect(try run("import", "-", input: Sample.cache([present])).status == 0)
    let token = try tool.run(
      tool.inGroup(["token", "--scope", "Present.Read"] + alice), environment: environment())
    #expect(token.standardOutput == "secret-at-present\n", "\(token.standardError)")
    #expect(try tool.run(tool.inGroup(["status"] + alice), environment: environment()).status == 0)
    #expect(try run("clear", "--expired", "--yes").status == 0)
    let exported = try JSONValue(text: try run("export").standardOutput)
    #expect(exported.secrets.contains("secret-at-valid"))
    #expect(!exported.secrets.contains("secret-at-expired"))
    #expect(try tool.run(tool.inGroup(["logout"] + alice), environment: environment()).status == 0)
    #expect(try tool.json("list")["records"]?.arrayValue?.isEmpty == true)
    #expect(try run("clear", "--all", "--yes").status == 0)
    #expect(try run("list").standardError.contains("Nothing in \(tool.group)"))
  }

  @Test func `The command line names it, with the key and the password in descriptors`() throws {
    let files = try TemporaryDirectory()
    let key = try files.file("passphrase", "correct horse")
    let options = [
      "--store", "etcd", "--endpoints", cluster.endpoints[0], "--prefix",
      EtcdCluster.prefix + "/\(tool.group)",
      "--key", "passphrase-fd:3", "--etcd-user", EtcdCluster.user, "--etcd-password", "passphrase-fd:4",
    ]
    func run(_ arguments: [String], input: String = "") throws -> Child.Result {
      try Child.run(
        "/bin/sh",
        ["-c", #"exec "$@" 3<"$KEY" 4<"$PASSWORD""#, "sh", Tool.path] + tool.inGroup(arguments) + options,
        environment: tool.environment(with: [
          "KEY": key, "PASSWORD": cluster.passwordFile, "LLAVERO_CA_BUNDLE": cluster.caBundle,
        ]), input: input)
    }
    let imported = try run(["import", "-"], input: Sample.cache)
    #expect(imported.status == 0, "\(imported.standardError)")
    #expect(imported.standardOutput == "10 records imported into \(tool.group), 0 there already.\n")
    #expect(
      try JSONValue(text: try run(["list", "--json"]).standardOutput)["records"]?.arrayValue?.count == 10)
  }

  @Test func `What is missing or wrong is said in llavero's name`() throws {
    let missing = try run("list", "--json", environment: ["LLAVERO_ENDPOINTS": nil])
    #expect(missing.status == 2)
    #expect(try JSONValue(text: missing.standardError)["error"]?["code"] == "endpoints_required")
    let refused = try run("list", environment: ["LLAVERO_ETCD_PASSWORD": "file:" + cluster.keyFile])
    #expect(refused.status == 1)
    #expect(refused.standardError.hasPrefix("llavero: etcd does not take"), "\(refused.standardError)")
    let elsewhere = try run("list", environment: ["LLAVERO_PREFIX": "/elsewhere"])
    #expect(elsewhere.status == 1)
    #expect(elsewhere.standardError.contains("no right to the store's prefix"))
    #expect(try run("list", "--nonsense").standardError.contains("llavero list"))
  }

  @Test func `A group is copied from the keyring to etcd, and from there into files`() throws {
    let files = try TemporaryDirectory()
    try tool.load(Sample.cache)
    let unset: [String: String?] = ["LLAVERO_STORE": nil, "XDG_DATA_HOME": files.path]
    let result = try run("copy", "--to-store", "etcd", environment: unset)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.standardOutput == "10 records copied into \(tool.group), in etcd, 0 there already.\n")
    let again = try run("copy", "--to-store", "etcd", "--json", environment: unset)
    #expect(try JSONValue(text: again.standardOutput)["kept"] == .integer(10))
    let onward = try run("copy", "--from-store", "etcd", "--to-store", "file", environment: unset)
    #expect(onward.status == 0, "\(onward.standardError)")
    let copied = try run("export", "--store", "file", environment: unset)
    #expect(try JSONValue(text: copied.standardOutput) == tool.exported())
    let same = try run("copy", "--from-store", "etcd", "--to-store", "etcd", environment: unset)
    #expect(same.status == 2)
  }

  private func examine(_ more: [String: String?] = [:]) throws -> (status: Int32, findings: [JSONValue]) {
    let result = try tool.run(
      ["doctor", "--json"],
      environment: environment(["DISPLAY": ":1", "BROWSER": "true"].merging(more) { $1 }))
    let report = try JSONValue(text: result.standardOutput)
    return (result.status, report["findings"]?.arrayValue ?? [])
  }

  private func text(_ check: String, in findings: [JSONValue]) -> String {
    findings.filter { $0["check"] == .string(check) }.flatMap { [$0["state"], $0["message"], $0["advice"]] }
      .compactMap { $0?.stringValue }.joined(separator: "\n")
  }

  @Test func `The doctor says how the cluster is, and leaves nothing behind`() throws {
    try load()
    let before = try cluster.administrate("get", "--prefix", "--keys-only", EtcdCluster.prefix + "/")
    let report = try examine()
    #expect(report.status == 0)
    let checks = report.findings.compactMap { $0["check"]?.stringValue }
    #expect(
      checks.prefix(7) == ["etcd", "etcd", "etcd_rights", "etcd_watch", "store_key", "probe", "groups"],
      "\(report.findings)")
    #expect(text("etcd", in: report.findings).contains("leads: etcd 3."))
    #expect(text("etcd", in: report.findings).contains("it may have "))
    #expect(text("etcd_watch", in: report.findings).hasPrefix("ok"))
    #expect(try run("groups", "--json").standardOutput.contains("org.llavero.probe") == false)
    let after = try cluster.administrate("get", "--prefix", "--keys-only", EtcdCluster.prefix + "/")
    #expect(!after.contains("org.llavero.probe"), "\(after)")
    #expect(before.contains(tool.group))
  }

  @Test func `A cluster that cannot be reached is exit code 4`() throws {
    let dead = "https://\(LoopbackAddress.newNetwork()).9:2379"
    let result = try run("list", "--json", environment: ["LLAVERO_ENDPOINTS": dead])
    #expect(result.status == 4, "\(result.standardError)")
    #expect(try JSONValue(text: result.standardError)["error"]?["code"] == "unavailable")
  }

  @Test func `The doctor names an endpoint that does not answer, and rights that are missing`() throws {
    let dead = "https://\(LoopbackAddress.newNetwork()).9:2379"
    let one = try examine(["LLAVERO_ENDPOINTS": cluster.endpoints[0] + "," + dead])
    #expect(one.status == 0)
    #expect(text("etcd", in: one.findings).contains("warning\n\(dead): "))
    #expect(!text("etcd", in: one.findings).contains("No endpoint"))
    let all = try examine(["LLAVERO_ENDPOINTS": dead])
    #expect(all.status == 1)
    #expect(text("etcd", in: all.findings).hasPrefix("problem\nNo endpoint of etcd can be reached."))
    let refused = try examine(["LLAVERO_PREFIX": "/elsewhere"])
    #expect(refused.status == 1)
    #expect(text("etcd_rights", in: refused.findings).contains("grant-permission"))
  }

  @Test func `A database that is full takes no writes, gives what it has, and the doctor says what to do`()
    throws
  {
    var settings = Self.one
    settings.quota = 4 << 20
    let cluster = try EtcdCluster(settings)
    let place: [String: String?] = [
      "LLAVERO_ENDPOINTS": cluster.endpoints[0], "LLAVERO_KEY": "file:" + cluster.keyFile,
      "LLAVERO_ETCD_PASSWORD": "file:" + cluster.passwordFile, "LLAVERO_CA_BUNDLE": cluster.caBundle,
    ]
    #expect(try run("import", "-", input: Sample.cache, environment: place).status == 0)
    let filling = String(repeating: "x", count: 100_000)
    var number = 0
    while number < 1000, (try? cluster.administrate("put", "filling\(number)", filling)) != nil {
      number += 1
    }
    let full = try run("clear", "--expired", "--yes", environment: place)
    #expect(full.status == 1)
    #expect(full.standardError.contains("NOSPACE"), "\(full.standardError)")
    let listed = try run("list", "--json", environment: place)
    #expect(try JSONValue(text: listed.standardOutput)["records"]?.arrayValue?.count == 10)
    let report = try examine(place)
    #expect(report.status == 1)
    #expect(text("etcd", in: report.findings).contains("etcdctl alarm disarm"))

    try cluster.administrate("del", "--prefix", "filling")
    let revision = try JSONValue(text: try cluster.administrate("get", "nothing", "--write-out", "json"))[
      "header"]?["revision"]
    try cluster.administrate("compaction", "\(revision?.integerValue ?? 0)")
    try cluster.administrate("defrag")
    try cluster.administrate("alarm", "disarm")
    #expect(try run("clear", "--expired", "--yes", environment: place).status == 0)
  }
}

extension JSONValue {
  fileprivate var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }
}
