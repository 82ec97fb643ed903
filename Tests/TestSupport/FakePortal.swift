import CGLib
package import GLibSupport
import Glibc
import Synchronization

/// A Secret portal that replies as a test wants, on a bus of its own.
package final class FakePortal: Sendable {
  package enum Behavior: Sendable {
    /// Writes bytes, and then sends the response: 0 is success.
    case secret([UInt8], response: UInt32 = 0, results: [String: Variant] = [:])
    /// Accepts the call with a request of another path than the caller expects.
    case elsewhere
    /// Accepts the call, and sends an invalid response.
    case nonsense
    case error(String)
    /// Replies with another type.
    case wrongType
    /// Accepts the call, and never sends a response.
    case silence
    /// Accepts the call, and ends.
    case death
  }

  /// A call for the secret.
  package struct Call: Sendable {
    /// The caller, and the request that it expects.
    package let sender: String
    package let request: String
    package let token: String?
  }

  package let keyring: PrivateKeyring
  private let bus: BusConnection
  private let behavior: Mutex<Behavior>
  private let log = Mutex<[Call]>([])
  private let arrivals: AsyncStream<Call>
  private let arrival: AsyncStream<Call>.Continuation

  package init(_ behavior: Behavior) throws {
    keyring = try PrivateKeyring(startingDaemon: false)
    self.behavior = Mutex(behavior)
    (arrivals, arrival) = AsyncStream.makeStream()
    (bus, _) = try keyring.connect()
    try bus.serve(["org.freedesktop.portal.Desktop"]) { [weak self] in self?.answer($0) }
  }

  deinit { keyring.shutdown() }

  package var busAddress: String { keyring.busAddress }

  /// The calls for the secret so far.
  package var calls: [Call] { log.withLock { $0 } }

  package func setBehavior(_ behavior: Behavior) { self.behavior.withLock { $0 = behavior } }

  /// Waits for the next call for the secret.
  package func nextCall() async -> Call? { await arrivals.first { _ in true } }

  /// Sends the response of a call that was answered with silence.
  package func end(_ call: Call, response: UInt32) {
    Self.end(call, [.uint32(response), .properties([:])], on: bus)
  }

  /// Sends the response of a call from another connection than the portal's.
  package func endFromOtherConnection(_ call: Call) throws {
    let (other, _) = try keyring.connect()
    Self.end(call, [.uint32(0), .properties([:])], on: other)
    _ = try withGError { g_dbus_connection_flush_sync(other.pointer, nil, $0) }
  }

  private static func end(_ call: Call, _ arguments: [Variant], on bus: BusConnection) {
    bus.emit("org.freedesktop.portal.Request", "Response", of: call.request, to: call.sender, arguments)
  }

  private func answer(_ incoming: IncomingCall) {
    let sender = incoming.sender
    let options = incoming.arguments.last?.properties ?? [:]
    let name = sender.dropFirst().replacing(".", with: "_")
    let path = "/org/freedesktop/portal/desktop/request/\(name)/"
    let expected = path + (options["handle_token"]?.string ?? "t")
    let call = Call(sender: sender, request: expected, token: options["token"]?.string)
    let descriptor = incoming.takeDescriptor()
    defer { close(descriptor) }

    func write(_ bytes: [UInt8]) {
      // This thread must not wait until the pipe takes more.
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = Glibc.write(descriptor, bytes, bytes.count)
    }
    switch behavior.withLock({ $0 }) {
    case .error(let name): return incoming.fail(name)
    case .wrongType: return incoming.reply([.string("wrong")])
    case .elsewhere: incoming.reply([.objectPath(path + "elsewhere")])
    case .secret(let bytes, let response, let results):
      incoming.reply([.objectPath(call.request)])
      write(bytes)
      Self.end(call, [.uint32(response), .properties(results)], on: bus)
    case .nonsense:
      incoming.reply([.objectPath(call.request)])
      Self.end(call, [.string("nonsense")], on: bus)
    case .silence: incoming.reply([.objectPath(call.request)])
    case .death:
      incoming.reply([.objectPath(call.request)])
      g_dbus_connection_close(bus.pointer, nil, nil, nil)
    }
    log.withLock { $0.append(call) }
    arrival.yield(call)
  }
}
