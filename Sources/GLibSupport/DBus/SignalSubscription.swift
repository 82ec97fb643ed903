import CGLib

/// Takes the signals of an object on the bus for as long as it lives.
package final class SignalSubscription {
  private let connection: BusConnection
  private let id: guint

  fileprivate final class Receiver {
    let action: (String, [Variant]) -> Void
    init(_ action: @escaping (String, [Variant]) -> Void) { self.action = action }
  }

  init(
    _ connection: BusConnection, _ sender: String, _ path: String, _ interface: String, _ first: String?,
    _ action: @escaping (String, [Variant]) -> Void
  ) {
    self.connection = connection
    id = g_dbus_connection_signal_subscribe(
      connection.pointer, sender, interface, nil, path, first, G_DBUS_SIGNAL_FLAGS_NONE,
      { _, _, _, _, name, arguments, data in
        guard let name, let arguments, let data else { return }
        Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue()
          .action(String(cString: name), Variant(taking: g_variant_ref(arguments)).children)
      }, Unmanaged.passRetained(Receiver(action)).toOpaque(),
      { data in data.map { Unmanaged<Receiver>.fromOpaque($0).release() } })
  }

  deinit { g_dbus_connection_signal_unsubscribe(connection.pointer, id) }
}
