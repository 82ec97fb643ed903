import Dispatch
import Glibc

/// A cluster of one etcd on loopback, with its data in memory, which ends with this object and with the test process.
///
/// Its data are on tmpfs: it calls fsync for every write, and the tests are not about the machine's disk.
package final class EtcdNode: Sendable {
  /// The programs of nodes, in turn: `etcd`, or those that `LLAVERO_TEST_ETCD` names, separated by colons.
  package static let programs = {
    let names = getenv("LLAVERO_TEST_ETCD").map { String(cString: $0) } ?? "etcd"
    return names.split(separator: ":").map(String.init)
  }()

  /// For tests that leave it as it is, each with a prefix of its own.
  package static let shared = Swift.Result { try EtcdNode() }

  package let endpoint: String
  private let files: TemporaryDirectory
  private let watchdog: Watchdog
  private let child: Child
  /// How many tokens of users have ended.
  private let endedTokens = Watched(0)

  /// - Parameter arguments: More of etcd's options, such as `--quota-backend-bytes`.
  /// - Throws: ``SetUpFailure`` when it does not start.
  package init(_ arguments: [String] = []) throws {
    files = try TemporaryDirectory(in: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")
    let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": files.path, "GOMAXPROCS": "2"]
    watchdog = try Watchdog(over: files.path, environment: environment)
    (endpoint, child) = try Self.start(arguments, in: files.path, watchdog.group, environment, endedTokens)
  }

  private static func start(
    _ arguments: [String], in directory: String, _ group: Int32, _ environment: [String: String],
    _ endedTokens: Watched<Int>
  ) throws -> (String, Child) {
    let (client, peer) = (try ReservedPort(), try ReservedPort())
    defer { withExtendedLifetime((client, peer)) {} }
    let endpoint = "http://127.0.0.1:\(client.number)"
    let peerURL = "http://127.0.0.1:\(peer.number)"
    let log = try Pipe()
    let child = try Child.piped(
      programs[0],
      [
        "--name=node", "--data-dir=\(directory)/data", "--logger=zap", "--log-outputs=stderr",
        "--listen-client-urls=\(endpoint)", "--advertise-client-urls=\(endpoint)",
        "--listen-peer-urls=\(peerURL)", "--initial-advertise-peer-urls=\(peerURL)",
        "--initial-cluster=node=\(peerURL)", "--bcrypt-cost=4",
      ] + arguments, environment: environment, group: group, errors: log)
    if let words = waitUntilReady(log, endedTokens) {
      child.end()
      throw SetUpFailure("etcd did not start, and wrote: \(words)")
    }
    return (endpoint, child)
  }

  /// A child that has ended and is not waited for keeps Swift Testing from seeing the ends of its own.
  deinit {
    child.end()
    watchdog.end()
  }

  /// Waits until a user's token has ended, as etcd's log says.
  package func waitForEndOfToken() async {
    await blocking { [endedTokens] in endedTokens.wait { $0 > 0 } }
  }

  /// Halts the process, or lets it go on.
  package func signal(_ number: Int32) { child.signal(number) }

  /// Runs `etcdctl`, and returns what it writes. `user` is a name and a password.
  @discardableResult
  package func control(_ arguments: String..., user: String? = nil) throws -> String {
    try control(arguments, user: user)
  }

  @discardableResult
  package func control(_ arguments: [String], user: String? = nil) throws -> String {
    let user = user.map { ["--user", $0] } ?? []
    return try Child.output(
      "etcdctl",
      ["--endpoints=\(endpoint)", "--command-timeout=60s", "--dial-timeout=60s"] + user + arguments,
      environment: Child.plain.merging(["ETCDCTL_API": "3"]) { $1 })
  }

  /// Reads etcd's log up to where it serves clients, and the rest on a thread of its own.
  ///
  /// - Returns: The last line of an etcd that ended before; else nil.
  private static func waitUntilReady(_ log: Pipe, _ endedTokens: Watched<Int>) -> String? {
    var last = ""
    while true {
      let line = log.readLine()
      if line.isEmpty { return last }
      last = line
      guard line.contains("ready to serve client requests") || line.contains("serving client traffic") else {
        continue
      }
      DispatchQueue(label: "etcd.log").async {
        while true {
          let line = log.readLine()
          if line.isEmpty { return }
          if line.contains("deleted a simple token") { endedTokens.change { $0 += 1 } }
        }
      }
      return nil
    }
  }
}
