import FoundationEssentials
import Glibc
import Synchronization

/// A cluster of etcd on this machine, each node at free ports of 127.0.0.1, over TLS, with a user for one prefix.
///
/// The nodes speak to each other through proxies, so that the network between them can be cut. Their passwords cost as
/// little as can be.
package final class EtcdCluster: Sendable {
  /// The prefix that ``user`` may read and write.
  package static let prefix = "/llavero"
  package static let user = "llavero"
  package static let password = "etcd password"

  private struct Node {
    let name: String
    /// Reserved for as long as the cluster lives, so that a node that starts again gets them.
    let client, peer: ReservedPort
    /// Through which it reaches the others.
    let proxy: Relay
    var child: Child?
    var isStopped = false
  }

  private let quota: Int?
  private let files: TemporaryDirectory
  private let watchdog: Watchdog
  private let nodes: Mutex<[Node]>

  package var directory: String { files.path }
  /// The certificate of the authority that the nodes' own are from.
  package var caBundle: String { directory + "/ca.pem" }
  package var passwordFile: String { directory + "/password" }
  /// A key for a store, 32 bytes.
  package var keyFile: String { directory + "/key" }

  /// Starts one, and waits until it answers. `quota` is how large a node's database may become, in bytes; etcd's 2 GiB
  /// unless told otherwise.
  package init(nodes count: Int = 3, quota: Int? = nil) throws {
    self.quota = quota
    files = try TemporaryDirectory()
    watchdog = try Watchdog(over: files.path, environment: Child.plain)
    let peers = try (0..<count).map { _ in try ReservedPort() }
    let names = (0..<count).map(Self.peerName)
    let ports = Dictionary(uniqueKeysWithValues: zip(names, peers.map(\.number)))
    nodes = Mutex(
      try peers.enumerated().map { index, peer in
        Node(name: "n\(index)", client: try ReservedPort(), peer: peer, proxy: try Relay(to: .named(ports)))
      })
    try Self.makeCertificates(in: files.path, for: names)
    try files.file("password", Self.password + "\n", mode: 0o600)
    try files.file("key", String(repeating: "k", count: 32), mode: 0o600)
    for index in names.indices { try start(index) }
    try waitUntilReady()
    try addUsers()
  }

  deinit { end() }

  /// Ends all nodes and removes their files.
  package func end() {
    nodes.withLock { nodes in
      for node in nodes {
        node.proxy.close()
        node.child?.end()
      }
      nodes = []
    }
    watchdog.end()
  }

  /// The addresses that clients use.
  package var endpoints: [String] { nodes.withLock { $0.map { Self.address(of: $0.client.number) } } }

  private static func address(of port: UInt16) -> String { "https://127.0.0.1:\(port)" }

  /// A network in front of a node, and the address of that node in it.
  package func relay(to node: Int) throws -> (relay: Relay, endpoint: String) {
    let relay = try Relay(to: .port(nodes.withLock { $0[node].client.number }))
    return (relay, Self.address(of: relay.port))
  }

  /// Ends a node at once, as a machine does that loses its power.
  package func kill(_ node: Int) {
    nodes.withLock { nodes in
      nodes[node].child?.end()
      nodes[node].child = nil
    }
  }

  /// Halts a node, so that it answers nothing.
  package func stop(_ node: Int) {
    nodes.withLock { nodes in
      nodes[node].child?.signal(SIGSTOP)
      nodes[node].isStopped = true
    }
  }

  package func go(on node: Int) {
    nodes.withLock { nodes in
      nodes[node].child?.signal(SIGCONT)
      nodes[node].isStopped = false
    }
  }

  /// Cuts a node off from the other ones, but not from its clients.
  package func isolate(_ node: Int) {
    nodes.withLock { nodes in
      for index in nodes.indices {
        nodes[index].proxy.part(
          from: index == node ? Set(nodes.indices.map(Self.peerName)) : [Self.peerName(node)])
      }
    }
  }

  /// Lets all nodes speak to each other again.
  package func reunite() { nodes.withLock { $0.forEach { $0.proxy.part(from: []) } } }

  /// Saves what one node has into a file.
  package func saveSnapshot(to path: String) throws {
    let result = try etcdctl(["snapshot", "save", path, "--endpoints", endpoints[0]])
    guard result.status == 0 else { throw SetUpFailure(result.standardError) }
  }

  /// Runs shell commands in a directory for a node that does not run. They read what it is called, and where it is, from
  /// `/etc/default/etcd`.
  package func run(_ commands: String, for index: Int, in directory: String) throws {
    let settings = [
      "ETCD_NAME=n\(index)", "ETCD_DATA_DIR=\(self.directory)/n\(index)",
      "ETCD_INITIAL_ADVERTISE_PEER_URLS=\(Self.peerAddress(index))",
      "ETCD_INITIAL_CLUSTER=\(nodes.withLock { initialCluster($0) })",
    ]
    let file = try files.file("etcd-\(index)", settings.joined(separator: "\n") + "\n")
    // Only root can make files another's.
    let script =
      "set -eu; cd \(directory); chown() { :; }\n" + commands.replacing("/etc/default/etcd", with: file)
    try Child.output("sh", ["-c", script])
  }

  private func initialCluster(_ nodes: [Node]) -> String {
    nodes.indices.map { "\(nodes[$0].name)=\(Self.peerAddress($0))" }.joined(separator: ",")
  }

  /// Starts a node with the data that it has.
  package func start(_ index: Int) throws {
    try nodes.withLock { nodes in
      let node = nodes[index]
      let arguments: [String] = [
        "--name", node.name, "--data-dir", "\(directory)/\(node.name)",
        "--listen-client-urls", Self.address(of: node.client.number),
        "--advertise-client-urls", Self.address(of: node.client.number),
        "--cert-file", directory + "/node.pem", "--key-file", directory + "/node.key",
        "--listen-peer-urls", Self.address(of: node.peer.number),
        "--initial-advertise-peer-urls", Self.peerAddress(index),
        "--initial-cluster", initialCluster(nodes), "--initial-cluster-state", "new",
        "--peer-cert-file", directory + "/node.pem", "--peer-key-file", directory + "/node.key",
        "--peer-trusted-ca-file", directory + "/ca.pem", "--peer-client-cert-auth",
        "--bcrypt-cost", "4", "--logger", "zap",
      ]
      nodes[index].child = try Child(
        EtcdNode.programs[index % EtcdNode.programs.count],
        arguments + (quota.map { ["--quota-backend-bytes", "\($0)"] } ?? []),
        environment: Child.plain.merging(["HTTPS_PROXY": "http://127.0.0.1:\(node.proxy.port)"]) { $1 },
        group: watchdog.group, log: "\(directory)/\(node.name).log")
    }
  }

  /// The node that leads, once all of those that run and are not cut off agree.
  package func leader(without cutOff: Int? = nil) throws -> Int {
    struct Answer: Decodable {
      struct State: Decodable {
        struct Header: Decodable {
          let member: UInt64
          enum CodingKeys: String, CodingKey { case member = "member_id" }
        }
        let header: Header
        let leader: UInt64?
      }
      let endpoint: String
      let state: State
      enum CodingKeys: String, CodingKey {
        case endpoint = "Endpoint"
        case state = "Status"
      }
    }
    let running = nodes.withLock { nodes in
      nodes.indices.filter { nodes[$0].child != nil && !nodes[$0].isStopped && $0 != cutOff }
    }
    let addresses = endpoints
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      let answer = try etcdctl(
        [
          "endpoint", "status", "--write-out", "json", "--endpoints",
          running.map { addresses[$0] }.joined(separator: ","),
        ])
      let answers = (try? JSONDecoder().decode([Answer].self, from: Data(answer.standardOutput.utf8))) ?? []
      let leaders = Set(answers.map { $0.state.leader ?? 0 })
      if answers.count == running.count, leaders.count == 1, let leader = leaders.first,
        let found = answers.first(where: { $0.state.header.member == leader }),
        let index = addresses.firstIndex(of: found.endpoint)
      {
        return index
      }
      usleep(20_000)
    }
    throw SetUpFailure("the cluster of etcd has no leader", log: "\(directory)/n0.log")
  }

  /// A node that runs and does not lead.
  package func follower() throws -> Int {
    let leader = try leader()
    return leader == 0 ? 1 : 0
  }

  /// Runs `etcdctl` as the administrator, at any node.
  @discardableResult
  package func administrate(_ arguments: String...) throws -> String {
    try administrate(arguments, at: endpoints)
  }

  @discardableResult
  private func administrate(_ arguments: [String], at endpoints: [String]) throws -> String {
    let result = try etcdctl(arguments + ["--endpoints", endpoints.joined(separator: ",")])
    guard result.status == 0 else { throw SetUpFailure(result.standardError) }
    return result.standardOutput
  }

  private func etcdctl(_ arguments: [String]) throws -> Child.Result {
    let user = isProtected.withLock({ $0 }) ? ["--user", "root:root"] : []
    return try Child.run(
      "etcdctl", arguments + ["--cacert", caBundle, "--command-timeout=60s", "--dial-timeout=60s"] + user,
      environment: Child.plain.merging(["ETCDCTL_API": "3"]) { $1 })
  }

  private let isProtected = Mutex(false)

  private func waitUntilReady() throws {
    _ = try leader()
    try administrate("get", "nothing")
  }

  private func addUsers() throws {
    // etcd 3.5 tells the other nodes only the hash of a password, which 3.4 does not know. The first node has the oldest version.
    let first = Array(endpoints.prefix(1))
    try administrate(["user", "add", "root:root"], at: first)
    try administrate("user", "grant-role", "root", "root")
    try administrate("role", "add", "cache")
    try administrate("role", "grant-permission", "--prefix=true", "cache", "readwrite", Self.prefix + "/")
    try administrate(["user", "add", "\(Self.user):\(Self.password)"], at: first)
    try administrate("user", "grant-role", Self.user, "cache")
    try administrate("auth", "enable")
    isProtected.withLock { $0 = true }
  }

  /// Not an address: etcd uses no proxy to this machine's own ones.
  private static func peerName(_ node: Int) -> String { "n\(node).etcd.test" }

  private static func peerAddress(_ node: Int) -> String { "https://\(peerName(node)):2380" }

  private static func makeCertificates(in directory: String, for names: [String]) throws {
    let alternatives = ["IP:127.0.0.1"] + names.map { "DNS:\($0)" }
    let node = [
      "-CA", directory + "/ca.pem", "-CAkey", directory + "/ca.key",
      "-addext", "basicConstraints=CA:FALSE",
      "-addext", "subjectAltName=" + alternatives.joined(separator: ","),
      "-addext", "extendedKeyUsage=serverAuth,clientAuth",
    ]
    for (name, options) in [("ca", []), ("node", node)] {
      try Child.output(
        "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
          "-subj", "/CN=Llavero test \(name)", "-keyout", "\(directory)/\(name).key",
          "-out", "\(directory)/\(name).pem",
        ] + options)
    }
  }
}
