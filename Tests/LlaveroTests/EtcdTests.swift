import TestSupport

/// The commands on a store in etcd, over TLS and as a user.
@Suite(.timeLimit(.minutes(20)))
struct EtcdTests {
  private static let shared = Swift.Result { try EtcdCluster(nodes: 1) }

  private let cluster: EtcdCluster
  private let tool: Tool
  private let keyring: [String: String?] = ["LLAVERO_STORE": nil, "LLAVERO_KEY": nil]

  init() throws {
    cluster = try Self.shared.get()
    tool = try Tool(settings: cluster.settings)
  }

  @Test func `Every command works on etcd, and leaves the keyring alone`() throws {
    let alice = ["--client", Sample.mail, "--account", Sample.alice]
    try tool.expectCommandsToWork(besideKeyring: keyring) {
      let present = Sample.accessToken(
        "present", Sample.alice, Sample.mail, "Present.Read",
        expiresOn: "\(Int(Date().timeIntervalSince1970) + 3600)")
      try tool("import", "-", input: Sample.cache([present])).exits(0)
      try tool(["token", "--scope", "Present.Read"] + alice).exits(0, printing: "secret-at-present\n")
      try tool(["status"] + alice).exits(0)
      try tool(["logout"] + alice).exits(0)
    }
    #expect(try tool("list").standardError.contains("No records in \(tool.group)."))
  }

  @Test func `The command line names etcd, with key and password in descriptors`() throws {
    let tool = try Tool()
    let key = try tool.files.file("passphrase", "correct horse")
    let options = [
      "--store", cluster.address("\(EtcdCluster.prefix)/\(tool.group)"), "--key", "passphrase-fd:3",
      "--etcd-user", EtcdCluster.user, "--etcd-password", "passphrase-fd:4",
    ]
    func run(_ arguments: [String], input: String = "") throws -> Child.Result {
      try tool.shell(
        #"exec "$0" "$@" 3<"$KEY" 4<"$PASSWORD""#, tool.inGroup(arguments) + options, input: input,
        with: ["KEY": key, "PASSWORD": cluster.passwordFile, "LLAVERO_CA_BUNDLE": cluster.caBundle])
    }
    try run(["import", "-"], input: Sample.cache).exits(
      0, printing: "10 records imported into \(tool.group), 0 there already.\n")
    #expect(try run(["list", "--json"]).json["records"]?.arrayValue?.count == 10)
  }

  @Test(.fault("no right")) func `What is missing or wrong is reported in llavero's name`() throws {
    let refused = try tool("list", with: ["LLAVERO_ETCD_PASSWORD": "file:" + cluster.keyFile]).exits(
      1, saying: "--etcd-password says where", hiding: "--key says")
    #expect(
      refused.standardError.hasPrefix("llavero: etcd rejected the user name"), "\(refused.standardError)")
    try tool("list", with: ["LLAVERO_STORE": cluster.address("/elsewhere")]).exits(
      1, saying: "no right to the store's prefix")
    #expect(try tool("list", "--nonsense").standardError.contains("llavero list"))
  }

  @Test func `A group is copied from the keyring to etcd, and from there into files`() throws {
    try tool.load(with: keyring)
    let unset: [String: String?] = ["LLAVERO_STORE": nil, "XDG_DATA_HOME": tool.files.path]
    let etcd = cluster.address()
    try tool("export", etcd, with: unset).exits(
      0, showing: "10 records exported into \(tool.group), in etcd+https://", " with the key file:")
    #expect(try tool("export", etcd, "--json", with: unset).json["kept"] == .integer(10))
    try tool("import", etcd, "--store", "file", with: unset).exits(0)
    #expect(try tool("export", "--store", "file", with: unset).json == tool.exported(with: keyring))
    try tool("import", etcd, "--store", etcd, with: unset).exits(2)
  }

  @Test func `One address names the cluster and its prefix, and the command line goes before`() throws {
    let address = cluster.address("\(EtcdCluster.prefix)/\(tool.group)")
    let dead: [String: String?] = ["LLAVERO_STORE": "etcd+https://etcd.invalid/elsewhere"]
    #expect(try tool("import", "-", "--store", address, input: Sample.cache, with: dead).status == 0)
    #expect(try tool.json("list", with: ["LLAVERO_STORE": address])["records"]?.arrayValue?.count == 10)
    // The prefix is another one than that of the other tests.
    #expect(try tool.json("list")["records"]?.arrayValue?.count == 0)
  }

  @Test func `Certificates for etcd alone go before those for everything`() throws {
    let wrong = tool.files.path + "/ca.pem"
    let request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Other"]
    try Child.output("openssl", request + ["-keyout", "/dev/null", "-out", wrong])
    try tool("list", "--groups", with: ["LLAVERO_CA_BUNDLE": wrong]).exits(4)
    try tool("list", "--groups", with: ["LLAVERO_CA_BUNDLE": wrong, "LLAVERO_ETCD_CA": cluster.caBundle])
      .exits(0)
    try tool("list", "--groups", "--etcd-ca", cluster.caBundle, with: ["LLAVERO_CA_BUNDLE": nil]).exits(0)
    try tool("list", "--groups", "--etcd-ca", wrong).exits(
      4, saying: "LLAVERO_ETCD_CA", hiding: "LLAVERO_CA_BUNDLE")
  }

  private func examine(_ more: [String: String?] = [:]) throws -> DoctorReport {
    try tool.examine(with: ["DISPLAY": ":1", "BROWSER": "true"].merging(more) { $1 })
  }

  @Test func `The doctor reports the cluster's state, and leaves nothing behind`() throws {
    // Below the common prefix, another test's doctor may be at work.
    let prefix = EtcdCluster.prefix + "/doctor"
    let own: [String: String?] = ["LLAVERO_STORE": cluster.address(prefix)]
    try tool.load(with: own)
    let before = try cluster.administrate("get", "--prefix", "--keys-only", prefix + "/")
    let report = try examine(own).exits(0)
    #expect(
      report.checks.prefix(8) == [
        "configuration", "etcd", "etcd", "etcd_rights", "etcd_watch", "store_key", "probe", "groups",
      ])
    #expect(report.text("etcd").contains("leads: etcd 3.") && report.text("etcd").contains("it may have "))
    #expect(report.states("etcd_watch").first == "ok")
    #expect(
      try tool("list", "--groups", "--json", with: own).standardOutput.contains("org.llavero.probe") == false)
    let after = try cluster.administrate("get", "--prefix", "--keys-only", prefix + "/")
    #expect(!after.contains("org.llavero.probe"), "\(after)")
    #expect(before.contains(tool.group))
  }

  @Test(.fault("exit 4")) func `A cluster that cannot be reached exits with 4`() throws {
    let dead = "https://127.0.0.1:\(ReservedPort.refusing.number)"
    try tool("list", "--json", with: ["LLAVERO_STORE": cluster.address(at: dead)]).exits(
      4, code: "unavailable")
  }

  @Test(.fault("doctor member", "no right"))
  func `The doctor names an endpoint that does not answer, and rights that are missing`() throws {
    let dead = "https://127.0.0.1:\(ReservedPort.refusing.number)"
    let one = try examine(["LLAVERO_STORE": cluster.address(at: cluster.endpoints[0], dead)]).exits(0)
    #expect(
      one.findings("etcd").contains {
        $0["state"] == "warning" && $0["message"]?.stringValue?.hasPrefix("\(dead): ") == true
      })
    #expect(!one.text("etcd").contains("No endpoint"))
    let all = try examine(["LLAVERO_STORE": cluster.address(at: dead)]).exits(1)
    #expect(all.states("etcd").first == "problem")
    #expect(all.text("etcd").hasPrefix("No endpoint of etcd can be reached."))
    let refused = try examine(["LLAVERO_STORE": cluster.address("/elsewhere")]).exits(1)
    #expect(refused.text("etcd_rights").contains("grant-permission"))
  }

  /// A member that reports the size and the quota of its database, and gives no rights. The first one leads.
  private func reportingMember(
    _ number: Int = 1, size: Int, quota: String, fields: String = ""
  ) throws -> RawServer {
    try RawServer(certificate: nil) { connection in
      while let request = connection.readRequest() {
        switch request.split(separator: " ")[1] {
        case "/metrics": connection.answer("etcd_server_quota_backend_bytes \(quota)\n", fields: fields)
        case "/v3/maintenance/status":
          connection.answer(
            """
            {"header": {"cluster_id": "7", "member_id": "\(number)", "revision": "1"}, "version": "3.5.9",
             "leader": "1", "dbSize": "\(size)", "dbSizeInUse": "1"}
            """)
        default:
          connection.answer(#"{"error": "etcdserver: permission denied", "code": 7}"#, status: 403)
        }
      }
    }
  }

  private func examine(members: RawServer...) throws -> DoctorReport {
    defer { withExtendedLifetime(members) {} }
    let hosts = members.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    return try examine([
      "LLAVERO_STORE": "etcd+http://\(hosts)/p", "LLAVERO_ETCD_USER": nil, "LLAVERO_ETCD_PASSWORD": nil,
    ])
  }

  @Test(arguments: [
    // As large as it may be without a warning, and a byte more; without a limit, and with the least.
    (4_000_000, "5e+06", "ok", "; it may have 5 MB."), (4_000_001, "5e+06", "warning", "; it may have 5 MB."),
    (4_000_000, "0", "ok", "."), (4_000_000, "1", "warning", "; it may have 1 MB."),
  ])
  func `The doctor warns of a database that is almost full`(
    size: Int, quota: String, state: String, end: String
  ) throws {
    let report = try examine(members: reportingMember(size: size, quota: quota))
    #expect(report.states("etcd") == ["ok", state])
    let message = report.findings("etcd").last?["message"]?.stringValue
    #expect(message == "etcd's database has 4 MB, 1 MB of them in use" + end)
  }

  @Test func `The doctor reports the largest database, and the clock of each member`() throws {
    let first = try reportingMember(2, size: 2_000_000, quota: "0")
    let second = try reportingMember(
      3, size: 3_000_000, quota: "0", fields: "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\n")
    let report = try examine(members: first, second)
    #expect(report.states("etcd") == ["ok", "ok", "warning", "ok", "warning"])
    let messages = report.findings("etcd").compactMap { $0["message"]?.stringValue }.suffix(3)
    #expect(
      messages.dropLast() == [
        "The leader is not among the endpoints.", "etcd's database has 3 MB, 1 MB of them in use.",
      ])
    let clock = "The clock of http://127.0.0.1:\(second.port) is "
    #expect(messages.last?.hasPrefix(clock) == true && messages.last?.hasSuffix(" s behind.") == true)
  }

  @Test(.fault("etcd full"))
  func `A full database takes no writes and can be read, and the doctor has advice`() throws {
    let cluster = try EtcdCluster(nodes: 1, quota: 4 << 20)
    let place = cluster.settings
    #expect(try tool("import", "-", input: Sample.cache, with: place).status == 0)
    let filling = String(repeating: "x", count: 100_000)
    var number = 0
    while number < 1000, (try? cluster.administrate("put", "filling\(number)", filling)) != nil {
      number += 1
    }
    try tool("clear", "--expired", "--yes", with: place).exits(1, saying: "NOSPACE")
    #expect(try tool("list", "--json", with: place).json["records"]?.arrayValue?.count == 10)
    let report = try examine(place).exits(1)
    #expect(report.text("etcd").contains("etcdctl alarm disarm"))

    try cluster.administrate("del", "--prefix", "filling")
    let revision = try JSONValue(text: try cluster.administrate("get", "nothing", "--write-out", "json"))[
      "header"]?["revision"]
    try cluster.administrate("compaction", "\(Int64(revision?.numberValue ?? 0))")
    try cluster.administrate("defrag")
    try cluster.administrate("alarm", "disarm")
    #expect(try tool("clear", "--expired", "--yes", with: place).status == 0)
  }
}

extension EtcdCluster {
  /// The address of a store here.
  func address(_ prefix: String = EtcdCluster.prefix, at endpoints: String...) -> String {
    let hosts = (endpoints.isEmpty ? self.endpoints : endpoints).map { $0.dropFirst("https://".count) }
    return "etcd+https://\(hosts.joined(separator: ","))\(prefix)"
  }

  /// The tool's settings for a store here.
  var settings: [String: String?] {
    [
      "LLAVERO_STORE": address(), "LLAVERO_KEY": "file:" + keyFile, "LLAVERO_ETCD_USER": Self.user,
      "LLAVERO_ETCD_PASSWORD": "file:" + passwordFile, "LLAVERO_CA_BUNDLE": caBundle,
    ]
  }
}
