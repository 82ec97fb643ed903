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
    let cancellable = Cancellable(timeout: .seconds(120))
    bus = try BusConnection(address: keyring.busAddress, cancellable)
    g_dbus_connection_add_filter(bus.pointer, answerCall, Unmanaged.passUnretained(self).toOpaque(), nil)
    try bus.own("org.freedesktop.portal.Desktop", cancellable)
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
    let other = try BusConnection(address: busAddress, Cancellable(timeout: .seconds(120)))
    Self.end(call, [.uint32(0), .properties([:])], on: other)
    _ = try withGError { g_dbus_connection_flush_sync(other.pointer, nil, $0) }
  }

  private static func end(_ call: Call, _ arguments: [Variant], on bus: BusConnection) {
    let arguments = Variant.tuple(arguments)
    _ = withExtendedLifetime(arguments) {
      g_dbus_connection_emit_signal(
        bus.pointer, call.sender, call.request, "org.freedesktop.portal.Request", "Response",
        arguments.pointer, nil)
    }
  }

  /// Answers a call; runs on GDBus's thread.
  fileprivate func answer(_ message: OpaquePointer) {
    let arguments = g_dbus_message_get_body(message).map { Variant(taking: g_variant_ref($0)).children } ?? []
    let sender = String(cString: g_dbus_message_get_sender(message))
    let options = arguments.last?.properties ?? [:]
    let name = sender.dropFirst().replacing(".", with: "_")
    let path = "/org/freedesktop/portal/desktop/request/\(name)/"
    let expected = path + (options["handle_token"]?.string ?? "t")
    let call = Call(sender: sender, request: expected, token: options["token"]?.string)
    var count: gint = 0
    let descriptors = g_unix_fd_list_steal_fds(g_dbus_message_get_unix_fd_list(message), &count)
    defer { g_free(descriptors) }
    let descriptor = count > 0 ? descriptors?[0] ?? -1 : -1
    defer { close(descriptor) }

    func write(_ bytes: [UInt8]) {
      // This thread must not wait until the pipe takes more.
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = Glibc.write(descriptor, bytes, bytes.count)
    }
    switch behavior.withLock({ $0 }) {
    case .error(let name):
      return send(g_dbus_message_new_method_error_literal(message, name, "fake"))
    case .wrongType: return reply(to: message, .string("wrong"))
    case .elsewhere: reply(to: message, .objectPath(path + "elsewhere"))
    case .secret(let bytes, let response, let results):
      reply(to: message, .objectPath(call.request))
      write(bytes)
      Self.end(call, [.uint32(response), .properties(results)], on: bus)
    case .nonsense:
      reply(to: message, .objectPath(call.request))
      Self.end(call, [.string("nonsense")], on: bus)
    case .silence: reply(to: message, .objectPath(call.request))
    case .death:
      reply(to: message, .objectPath(call.request))
      g_dbus_connection_close(bus.pointer, nil, nil, nil)
    }
    log.withLock { $0.append(call) }
    arrival.yield(call)
  }

  private func reply(to message: OpaquePointer, _ value: Variant) {
    let reply = g_dbus_message_new_method_reply(message)
    let body = Variant.tuple([value])
    withExtendedLifetime(body) { g_dbus_message_set_body(reply, body.pointer) }
    send(reply)
  }

  private func send(_ message: OpaquePointer?) {
    g_dbus_connection_send_message(bus.pointer, message, GDBusSendMessageFlags(rawValue: 0), nil, nil)
    if let message { g_object_unref(UnsafeMutableRawPointer(message)) }
  }
}

private let answerCall: GDBusMessageFilterFunction = { _, message, isIncoming, data in
  guard let message, let data, isIncoming != 0,
    g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL
  else { return message }
  Unmanaged<FakePortal>.fromOpaque(data).takeUnretainedValue().answer(message)
  g_object_unref(UnsafeMutableRawPointer(message))
  return nil
}
