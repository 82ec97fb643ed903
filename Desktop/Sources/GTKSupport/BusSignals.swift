import CGTK

/// Calls a closure for signals on the session bus. Without a bus no signals arrive.
@MainActor
public final class BusSignals {
  private let cancellable = GTKObject(taking: UnsafeMutableRawPointer(g_cancellable_new()))
  private let handler: @MainActor () -> Void
  private let interfaces: [String]
  private let name: String
  private var bus: GTKObject?
  private var subscriptions: [UInt32] = []

  /// - Parameters:
  ///   - interfaces: The interfaces of the signals, from any sender.
  ///   - name: A name on the bus. That a program takes or gives it up is a signal, too.
  ///   - handler: Called for each signal.
  public init(
    of interfaces: [String], orOwnersOf name: String, _ handler: @escaping @MainActor () -> Void
  ) {
    (self.handler, self.interfaces, self.name) = (handler, interfaces, name)
    // It retains this object until the bus has responded.
    g_bus_get(
      G_BUS_TYPE_SESSION, cancellable.cast(),
      { _, result, data in
        guard let data else { return }
        let connection = g_bus_get_finish(result, nil)
        nonisolated(unsafe) let bus = connection.map { UnsafeMutableRawPointer($0) }
        nonisolated(unsafe) let box = data
        MainActor.assumeIsolated {
          let signals = Unmanaged<BusSignals>.fromOpaque(box).takeRetainedValue()
          if let bus { signals.subscribe(to: GTKObject(taking: bus)) }
        }
      }, Unmanaged.passRetained(self).toOpaque())
  }

  isolated deinit {
    for id in subscriptions { g_dbus_connection_signal_unsubscribe(bus?.opaque, id) }
  }

  private func subscribe(to bus: GTKObject) {
    self.bus = bus
    // When the bus ends there are no signals; by default GIO would end the process.
    g_dbus_connection_set_exit_on_close(bus.opaque, 0)
    subscriptions = interfaces.map { subscribe(nil, $0, nil, nil) }
    subscriptions.append(
      subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", name))
  }

  private func subscribe(_ sender: String?, _ interface: String, _ member: String?, _ argument: String?)
    -> UInt32
  {
    g_dbus_connection_signal_subscribe(
      bus?.opaque, sender, interface, member, nil, argument, GDBusSignalFlags(rawValue: 0),
      { _, _, _, _, _, _, data in
        guard let data else { return }
        nonisolated(unsafe) let box = data
        MainActor.assumeIsolated {
          Unmanaged<WeakSignals>.fromOpaque(box).takeUnretainedValue().signals?.handler()
        }
      }, Unmanaged.passRetained(WeakSignals(self)).toOpaque(),
      { data in data.map { Unmanaged<WeakSignals>.fromOpaque($0).release() } })
  }
}

@MainActor
private final class WeakSignals {
  weak var signals: BusSignals?

  init(_ signals: BusSignals) {
    self.signals = signals
  }
}
