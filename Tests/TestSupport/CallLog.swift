import GLibSupport
import Glibc
package import PrivateSession

extension PrivateKeyring {
  /// The names of the methods that were called over the bus while `body` ran, by everybody, but for `RemoveMatch`: GDBus sends it
  /// from a thread of its own, and maybe for a client that was let go before.
  package func logOfCalls(_ body: () async throws -> Void) async throws -> [String] {
    try await calls(body).map(\.method)
  }

  /// The same with the object that each call is for.
  package func calls(_ body: () async throws -> Void) async throws -> [(path: String, method: String)] {
    let output = try Pipe()
    let monitor = try Child.piped(
      "dbus-monitor", ["--address", busAddress, "--profile", "type='method_call'"],
      environment: environment, output: output)
    defer { monitor.end() }
    // The monitor is at work when it has lost its name, and has seen all when it sees this last call.
    while true {
      let line = output.readLine()
      if line.contains("NameLost") { break }
      if line.isEmpty { throw SetUpFailure("dbus-monitor ended") }
    }
    try await body()
    let (bus, cancellable) = try connect()
    _ = try bus.ask("GetId", [], reply: "(s)", cancellable)
    var calls: [(path: String, method: String)] = []
    while true {
      // With the path, the interface and the method at the end.
      let fields = output.readLine().split(separator: "\t").map(String.init)
      guard fields.count > 2, let method = fields.last else { throw SetUpFailure("dbus-monitor ended") }
      // Hello is this last connection's too.
      if method == "GetId" { return calls.dropLast(calls.last?.method == "Hello" ? 1 : 0) }
      if method != "RemoveMatch" { calls.append((fields[fields.count - 3], method)) }
    }
  }
}
