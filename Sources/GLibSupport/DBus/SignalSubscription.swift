import CGLib

/// Takes signals on the bus for as long as it lives, in the main context that was the thread's default when it was made.
package final class SignalSubscription {
  private let connection: BusConnection
  private let id: guint

  private final class Receiver {
    let action: (String, [Variant]) -> Void
    init(_ action: @escaping (String, [Variant]) -> Void) { self.action = action }
  }

  /// Takes those of an object's interface. Where `first` is given, only those count that have it as their first argument.
  package init(
    _ connection: BusConnection, of sender: String, _ path: String, _ interface: String,
    about first: String? = nil, _ action: @escaping (_ name: String, _ arguments: [Variant]) -> Void
  ) {
    self.connection = connection
    id = g_dbus_connection_signal_subscribe(
      connection.pointer, sender, interface, nil, path, first, GDBusSignalFlags(rawValue: 0),
      { _, _, _, _, name, arguments, data in
        guard let name, let arguments, let data else { return }
        Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue()
          .action(String(cString: name), Variant(taking: g_variant_ref(arguments)).children)
      }, Unmanaged.passRetained(Receiver(action)).toOpaque(),
      { data in data.map { Unmanaged<Receiver>.fromOpaque($0).release() } })
  }

  /// Takes the bus's word that a connection to it has ended. Of a unique name the bus says nothing else.
  package convenience init(
    _ connection: BusConnection, endOf owner: String, _ action: @escaping () -> Void
  ) {
    self.init(connection, of: BusConnection.bus, BusConnection.busPath, BusConnection.bus, about: owner) {
      name, _ in
      if name == "NameOwnerChanged" { action() }
    }
  }

  deinit { g_dbus_connection_signal_unsubscribe(connection.pointer, id) }
}
