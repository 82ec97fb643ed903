import CGLib
import Synchronization

/// A private connection to a D-Bus message bus.
///
/// `@unchecked Sendable`: the pointer never changes, and GDBusConnection is safe to use from any thread.
package final class BusConnection: @unchecked Sendable {
  package let pointer: OpaquePointer
  /// Receives the signals of this connection and of what was made by ``withContext(_:)``. In the context of a main
  /// loop that may never run, each signal would keep the connection open for ever.
  private let context: OpaquePointer
  /// Those in which calls waited, for the next ones.
  private let idleContexts = Mutex<[CallContext]>([])

  /// Connects to the bus at `address`, or to the session bus.
  package init(address: String?, _ cancellable: Cancellable) throws(GLibError) {
    guard canOpen(16) else { throw .outOfDescriptors }
    GIOTypes.register()
    var address = address
    if address == nil {
      address = String(
        taking: try withGError {
          g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, cancellable.pointer, $0)
        })
    }
    let flags = GDBusConnectionFlags(
      rawValue: FLAG_G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        | FLAG_G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
    let context: OpaquePointer = g_main_context_new()
    self.context = context
    do throws(GLibError) {
      g_main_context_push_thread_default(context)
      defer { g_main_context_pop_thread_default(context) }
      let pointer = try withGError { error in
        g_dbus_connection_new_for_address_sync(address ?? "", flags, nil, cancellable.pointer, error)
      }
      guard let pointer else { throw GLibError.unexplained }
      self.pointer = pointer
    } catch {
      g_main_context_unref(context)
      throw error
    }
    // Else GIO ends the process when the bus does, if a main loop runs.
    g_dbus_connection_set_exit_on_close(pointer, 0)
  }

  deinit {
    while g_main_context_iteration(context, 0) != 0 {}
    // Closes the socket as well. An explicit close would leave one more signal in the context.
    g_object_unref(UnsafeMutableRawPointer(pointer))
    g_main_context_unref(context)
  }

  /// Has objects that are made from now on listen on this connection, until ``popContext()``. Not for two threads at once; release
  /// the objects before the connection.
  package func pushContext() { g_main_context_push_thread_default(context) }

  package func popContext() { g_main_context_pop_thread_default(context) }

  /// Runs `body`, which makes an object that listens on this connection: see ``pushContext()``.
  package func withContext<T>(_ body: () -> T) -> T {
    pushContext()
    defer { popContext() }
    return body()
  }

  package var busID: String? { g_dbus_connection_get_guid(pointer).map { String(cString: $0) } }

  /// Delivers signals in this connection's context until `isDone`, the end of the bus or the deadline, and no longer
  /// than `limit`.
  package func listen(until isDone: () -> Bool, within limit: Duration? = nil, _ cancellable: Cancellable) {
    let source = g_cancellable_source_new(cancellable.pointer)
    defer {
      g_source_destroy(source)
      g_source_unref(source)
    }
    let wakeUp: @convention(c) (UnsafeMutablePointer<GCancellable>?, gpointer?) -> gboolean = { _, _ in 0 }
    g_source_set_callback(source, unsafeBitCast(wakeUp, to: GSourceFunc.self), nil, nil)
    g_source_attach(source, context)
    var isLate = false
    let timer = limit.map { limit in withContext { ContextTimer(after: limit) { isLate = true } } }
    defer { withExtendedLifetime(timer) {} }
    let endDeadline = cancellable.enforceDeadline()
    defer { endDeadline() }
    while !isDone(), !isLate, !isClosed, !cancellable.isCancelled { g_main_context_iteration(context, 1) }
  }

  package var isClosed: Bool { g_dbus_connection_is_closed(pointer) != 0 }

  /// The name that the bus gave this connection, such as `:1.42`.
  package var uniqueName: String {
    g_dbus_connection_get_unique_name(pointer).map { String(cString: $0) } ?? ""
  }

  static let bus = "org.freedesktop.DBus"
  static let busPath = "/org/freedesktop/DBus"

  /// Calls a method of the bus itself, as ``call(_:_:_:_:_:sending:reply:within:_:)`` does.
  ///
  /// - Returns: The first argument of the reply.
  package func ask(
    _ method: String, _ arguments: [Variant], reply: String, within limit: Duration? = nil,
    _ cancellable: Cancellable
  ) throws(GLibError) -> Variant? {
    try call(
      Self.bus, Self.busPath, Self.bus, method, arguments, reply: reply, within: limit, cancellable
    ).first
  }

  /// Calls a method and returns the arguments of the reply, which must have the tuple type `reply`.
  ///
  /// Waits until the deadline, and no longer than `limit`. A `descriptor` is sent with the message; the argument
  /// `Variant.handle(0)` refers to it. The caller still closes it.
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ arguments: [Variant], sending descriptor: Int32? = nil, reply: String, within limit: Duration? = nil,
    _ cancellable: Cancellable
  ) throws(GLibError) -> [Variant] {
    let milliseconds = min(
      cancellable.remainingMilliseconds, limit.map { Int32(clamping: Int64($0 / .milliseconds(1))) } ?? .max)
    let descriptors = descriptor.map { _ in GObjectReference<GUnixFDList>(taking: g_unix_fd_list_new()) }
    defer { withExtendedLifetime(descriptors) {} }
    if let descriptor, let descriptors {
      _ = try withGError { g_unix_fd_list_append(descriptors.pointer, descriptor, $0) }
    }
    let tuple = Variant.tuple(arguments)
    defer { withExtendedLifetime(tuple) {} }
    let idle = idleContexts.withLock { $0.popLast() }
    let context = if let idle { idle } else { try CallContext() }
    defer { idleContexts.withLock { $0.append(context) } }
    g_main_context_push_thread_default(context.pointer)
    defer { g_main_context_pop_thread_default(context.pointer) }
    var result: OpaquePointer?
    // GDBus's own way to wait makes a context for each call.
    withUnsafeMutablePointer(to: &result) { result in
      withVariantType(reply) { type in
        g_dbus_connection_call_with_unix_fd_list(
          pointer, destination, path, interface, method, tuple.pointer, type, GDBusCallFlags(rawValue: 0),
          milliseconds, descriptors?.pointer, cancellable.pointer,
          { _, answer, result in
            g_object_ref(answer.map { UnsafeMutableRawPointer($0) })
            result?.assumingMemoryBound(to: OpaquePointer?.self).pointee = answer
          }, result)
      }
      while result.pointee == nil { g_main_context_iteration(context.pointer, 1) }
    }
    defer { g_object_unref(result.map { UnsafeMutableRawPointer($0) }) }
    let answer = try withGError {
      g_dbus_connection_call_with_unix_fd_list_finish(pointer, nil, result, $0)
    }
    guard let answer else { throw .unexplained }
    return Variant(taking: answer).children
  }
}

/// A main context in which calls wait, each in turn. It has a descriptor, so that a call that finds one needs none.
///
/// `@unchecked Sendable`: the pointer never changes, and only one thread at a time has the context.
private final class CallContext: @unchecked Sendable {
  let pointer: OpaquePointer

  init() throws(GLibError) {
    guard canOpen(2) else { throw .outOfDescriptors }
    pointer = g_main_context_new()
  }

  deinit { g_main_context_unref(pointer) }
}

/// Receives signals as long as it lives, in the main context that was the thread's default when it was made.
package final class SignalSubscription {
  private let connection: BusConnection
  private let id: guint

  private typealias Receiver = Box<(String, [Variant]) -> Void>

  /// Receives the signals of an object's interface; with `first`, only those whose first argument it is.
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
          .value(String(cString: name), Variant(taking: g_variant_ref(arguments)).children)
      }, Unmanaged.passRetained(Receiver(action)).toOpaque(),
      { data in data.map { Unmanaged<Receiver>.fromOpaque($0).release() } })
  }

  /// Calls `action` when a connection to the bus has ended: a unique name never gets another owner.
  package convenience init(_ connection: BusConnection, endOf owner: String, _ action: @escaping () -> Void) {
    self.init(connection, of: BusConnection.bus, BusConnection.busPath, BusConnection.bus, about: owner) {
      name, _ in
      if name == "NameOwnerChanged" { action() }
    }
  }

  deinit { g_dbus_connection_signal_unsubscribe(connection.pointer, id) }
}
