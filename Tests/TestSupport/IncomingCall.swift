import CGLib
package import GLibSupport

/// A call of a method of the test's own program on a bus, which gets no reply unless the test sends one.
package struct IncomingCall {
  private let bus: OpaquePointer
  private let message: OpaquePointer

  fileprivate init(on bus: OpaquePointer, _ message: OpaquePointer) {
    (self.bus, self.message) = (bus, message)
  }

  package var method: String { String(cString: g_dbus_message_get_member(message)) }
  package var sender: String { String(cString: g_dbus_message_get_sender(message)) }
  package var arguments: [Variant] {
    g_dbus_message_get_body(message).map { Variant(taking: g_variant_ref($0)).children } ?? []
  }

  /// The first descriptor that was sent, for the test to close; -1 without one.
  package func takeDescriptor() -> Int32 {
    var count: gint = 0
    let descriptors = g_unix_fd_list_steal_fds(g_dbus_message_get_unix_fd_list(message), &count)
    defer { g_free(descriptors) }
    return count > 0 ? descriptors?[0] ?? -1 : -1
  }

  package func reply(_ values: [Variant]) {
    let reply = g_dbus_message_new_method_reply(message)
    let body = Variant.tuple(values)
    withExtendedLifetime(body) { g_dbus_message_set_body(reply, body.pointer) }
    send(reply)
  }

  /// Replies with an error.
  package func fail(_ name: String) { send(g_dbus_message_new_method_error_literal(message, name, "fake")) }

  private func send(_ message: OpaquePointer?) {
    g_dbus_connection_send_message(bus, message, GDBusSendMessageFlags(rawValue: 0), nil, nil)
    if let message { g_object_unref(UnsafeMutableRawPointer(message)) }
  }
}

/// Shared with GDBus, which may call it once more when the connection is gone.
private final class Handler: Sendable {
  let handle: @Sendable (IncomingCall) -> Void

  init(_ handle: @escaping @Sendable (IncomingCall) -> Void) { self.handle = handle }
}

extension BusConnection {
  /// Takes free names on the bus, and has a closure handle every call, on GDBus's thread.
  package func serve(_ names: [String], _ handle: @escaping @Sendable (IncomingCall) -> Void) throws {
    let filter: GDBusMessageFilterFunction = { bus, message, isIncoming, handler in
      guard let bus, let message, let handler, isIncoming != 0,
        g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL
      else { return message }
      Unmanaged<Handler>.fromOpaque(handler).takeUnretainedValue().handle(IncomingCall(on: bus, message))
      g_object_unref(UnsafeMutableRawPointer(message))
      return nil
    }
    g_dbus_connection_add_filter(pointer, filter, Unmanaged.passRetained(Handler(handle)).toOpaque()) {
      if let handler = $0 { Unmanaged<Handler>.fromOpaque(handler).release() }
    }
    for name in names {
      let reply = try ask(
        "RequestName", [.string(name), .uint32(4)], reply: "(u)", Cancellable(timeout: .seconds(120)))
      guard reply?.uint32 == 1 else { throw SetUpFailure("\(name) is not free on the bus") }
    }
  }

  /// Emits a signal of an object, to all programs or to one.
  package func emit(
    _ interface: String, _ signal: String, of path: String, to receiver: String? = nil, _ arguments: [Variant]
  ) {
    let arguments = Variant.tuple(arguments)
    _ = withExtendedLifetime(arguments) {
      g_dbus_connection_emit_signal(pointer, receiver, path, interface, signal, arguments.pointer, nil)
    }
  }
}
