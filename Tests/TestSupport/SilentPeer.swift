import CGLib
package import GLibSupport
import Synchronization

/// A program that has a name on a bus and never replies.
package final class SilentPeer: Sendable {
  /// Shared with the filter, which may run once more when the peer is gone.
  private final class State: Sendable {
    let wasCalled = Atomic(false)
  }

  /// Whether a method was called.
  package var wasCalled: Bool { state.wasCalled.load(ordering: .sequentiallyConsistent) }

  private let state = State()
  private let bus: BusConnection

  package init(_ name: String, on keyring: PrivateKeyring) throws {
    let cancellable = Cancellable(timeout: .seconds(120))
    bus = try BusConnection(address: keyring.busAddress, cancellable)
    let swallowCalls: GDBusMessageFilterFunction = { _, message, isIncoming, state in
      guard let message, let state, isIncoming != 0,
        g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL
      else { return message }
      Unmanaged<State>.fromOpaque(state).takeUnretainedValue().wasCalled
        .store(true, ordering: .sequentiallyConsistent)
      g_object_unref(UnsafeMutableRawPointer(message))
      return nil
    }
    g_dbus_connection_add_filter(bus.pointer, swallowCalls, Unmanaged.passRetained(state).toOpaque()) {
      if let state = $0 { Unmanaged<State>.fromOpaque(state).release() }
    }
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
