import CLibsecret

/// A private connection to a D-Bus message bus.
///
/// `@unchecked Sendable`: the pointer never changes, and GDBusConnection is safe to use from any thread.
package final class BusConnection: @unchecked Sendable {
  package let pointer: OpaquePointer

  /// Connects to the bus at `address`, or to the session bus.
  package init(address: String?, _ cancellable: Cancellable) throws(GLibError) {
    GIOTypes.register()
    var sessionBus: UnsafeMutablePointer<CChar>?
    defer { g_free(sessionBus) }
    if address == nil {
      sessionBus = try withGError {
        g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, cancellable.pointer, $0)
      }
    }
    let flags = GDBusConnectionFlags(
      rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    let pointer = try withGError { error in
      g_dbus_connection_new_for_address_sync(
        address ?? sessionBus.map { String(cString: $0) } ?? "", flags, nil, cancellable.pointer, error)
    }
    guard let pointer else { throw .unexplained }
    // Else GIO ends the process when the bus does, if a main loop runs.
    g_dbus_connection_set_exit_on_close(pointer, 0)
    self.pointer = pointer
  }

  deinit {
    // Closes the socket as well. Closing in so many words would leave an answer for a main loop that may never run,
    // and with it the connection.
    g_object_unref(UnsafeMutableRawPointer(pointer))
  }

  package var isClosed: Bool { g_dbus_connection_is_closed(pointer) != 0 }

  /// Calls a method, waits for the answer until the deadline, and returns the answer's arguments, which must
  /// be of the type `reply`, a tuple.
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ arguments: [Variant], reply: String, _ cancellable: Cancellable
  ) throws(GLibError) -> [Variant] {
    let tuple = Variant.tuple(arguments)
    defer { withExtendedLifetime(tuple) {} }
    let answer = try withVariantType(reply) { (type) throws(GLibError) in
      try withGError { error in
        g_dbus_connection_call_sync(
          pointer, destination, path, interface, method, tuple.pointer, type,
          G_DBUS_CALL_FLAGS_NONE, cancellable.remainingMilliseconds, cancellable.pointer, error)
      }
    }
    guard let answer else { throw .unexplained }
    return Variant(taking: answer).children
  }
}
