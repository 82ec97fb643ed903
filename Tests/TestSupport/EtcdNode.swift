import Dispatch
import Glibc

/// A cluster of one etcd on loopback, with its data in memory, which ends with this object and with the test process.
///
/// Its data are on tmpfs: it calls fsync for every write, and the tests are not about the machine's disk.
package final class EtcdNode: Sendable {
  /// For tests that leave it as it is, each with a prefix of its own.
  package static let shared = Swift.Result { try EtcdNode() }

  package let endpoint: String
  private let files: TemporaryDirectory
  private let watchdog: Watchdog
  private let child: Child
  /// How many tokens of users have ended.
  private let endedTokens = Watched(0)

  /// - Parameter arguments: More of etcd's options, such as `--quota-backend-bytes`.
  /// - Throws: `Child.Failure` when it does not start.
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
    // A port that is free now may be taken a moment later.
    for _ in 0..<20 {
      let (client, peer) = (try freePort(), try freePort())
      let endpoint = "http://127.0.0.1:\(client)"
      let log = try Pipe()
      let child = try Child(
        "etcd",
        [
          "--name=node", "--data-dir=\(directory)/data-\(client)", "--logger=zap", "--log-outputs=stderr",
          "--listen-client-urls=\(endpoint)", "--advertise-client-urls=\(endpoint)",
          "--listen-peer-urls=http://127.0.0.1:\(peer)",
          "--initial-advertise-peer-urls=http://127.0.0.1:\(peer)",
          "--initial-cluster=node=http://127.0.0.1:\(peer)",
        ] + arguments, environment: environment, group: group, streams: (nil, nil, log.writing))
      log.closeWriting()
      if waitUntilReady(log, endedTokens) { return (endpoint, child) }
      child.signal(SIGKILL)
      child.wait()
    }
    throw Child.Failure(description: "etcd did not start; Tests/install etcd-server etcd-client installs it")
  }

  /// A child that has ended and is not waited for keeps Swift Testing from seeing the ends of its own.
  deinit {
    child.signal(SIGKILL)
    child.wait()
    watchdog.end()
  }

  /// Waits until a user's token has ended, as etcd's log says.
  package func waitForEndOfToken() async {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "etcd.token").async { [endedTokens] in
        endedTokens.wait { $0 > 0 }
        continuation.resume()
      }
    }
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
    let end = try Child.run(
      "etcdctl", ["--endpoints=\(endpoint)"] + user + arguments,
      environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "ETCDCTL_API": "3"])
    guard end.status == 0 else { throw Child.Failure(description: end.standardError) }
    return end.standardOutput
  }

  /// Reads etcd's log up to where it serves clients, and the rest on a thread of its own.
  private static func waitUntilReady(_ log: Pipe, _ endedTokens: Watched<Int>) -> Bool {
    while true {
      let line = log.readLine()
      if line.isEmpty { return false }
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
      return true
    }
  }

  /// A port of loopback that nobody listens on.
  package static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
      }
    }
    guard isBound else { throw Child.Failure(description: "no free port: \(errno)") }
    return UInt16(bigEndian: address.sin_port)
  }
}
