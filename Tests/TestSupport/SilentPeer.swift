import CGLib
package import GLibSupport

/// A program that has a name on a bus and never replies.
package final class SilentPeer: Sendable {
  private let bus: BusConnection

  package init(_ name: String, on keyring: PrivateKeyring) throws {
    let cancellable = Cancellable(timeout: .seconds(120))
    bus = try BusConnection(address: keyring.busAddress, cancellable)
    let swallowCalls: GDBusMessageFilterFunction = { _, message, isIncoming, _ in
      guard let message, isIncoming != 0,
        g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL
      else { return message }
      g_object_unref(UnsafeMutableRawPointer(message))
      return nil
    }
    g_dbus_connection_add_filter(bus.pointer, swallowCalls, nil, nil)
    try bus.own(name, cancellable)
  }
}

extension BusConnection {
  /// Takes a free name on the bus.
  package func own(_ name: String, _ cancellable: Cancellable) throws {
    _ = try call(
      "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
      [.string(name), .uint32(4)], reply: "(u)", cancellable)
  }
}
