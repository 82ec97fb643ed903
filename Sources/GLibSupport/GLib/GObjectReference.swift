package import CGLib

/// Owns one reference of a GObject.
///
/// `@unchecked Sendable`: reference counting of a GObject is atomic, and the pointer never changes. The caller must know
/// whether the object's own functions may be called from several threads.
package final class GObjectReference<Object>: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<Object>

  /// Takes over the caller's reference.
  package init(taking pointer: UnsafeMutablePointer<Object>) { self.pointer = pointer }

  deinit { g_object_unref(pointer) }
}

/// Makes an object with these properties and frees their values.
package func newObject(_ type: GType, _ properties: [(name: String, value: GValue)] = []) -> gpointer? {
  var names = properties.map { g_intern_string($0.name) }
  var values = properties.map(\.value)
  defer { for index in values.indices { g_value_unset(&values[index]) } }
  return g_object_new_with_properties(type, guint(values.count), &names, values).map { gpointer($0) }
}

/// Calls `action` at each emission of a signal, on the thread that emits it, as long as the object lives.
///
/// The arguments are the object and those of the signal. It does not look at results.
/// - Returns: The number to disconnect with.
@discardableResult package func onSignal(
  _ signal: String, of object: gpointer, _ action: @escaping (_ arguments: UnsafePointer<GValue>) -> Void
) -> gulong {
  let data = Unmanaged.passRetained(SignalHandler(action)).toOpaque()
  let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), data)
  g_closure_set_marshal(closure) { closure, _, _, arguments, _, _ in
    guard let data = closure?.pointee.data, let arguments else { return }
    Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue().value(arguments)
  }
  g_closure_add_finalize_notifier(closure, data) { data, _ in
    data.map { Unmanaged<SignalHandler>.fromOpaque($0).release() }
  }
  return g_signal_connect_closure(object, signal, closure, 0)
}

private typealias SignalHandler = Box<(UnsafePointer<GValue>) -> Void>

/// An object that C can refer to, with a closure.
final class Box<Value> {
  let value: Value
  init(_ value: Value) { self.value = value }
}

extension GValue {
  package static func object(_ object: gpointer, type: GType) -> GValue {
    make(type) { g_value_set_object($0, object) }
  }

  package static func string(_ string: String) -> GValue {
    make(g_type_from_name("gchararray")) { g_value_set_string($0, string) }
  }

  package static func flags(_ flags: UInt32, type: GType) -> GValue {
    make(type) { g_value_set_flags($0, flags) }
  }

  package static func int(_ number: Int32) -> GValue {
    make(g_type_from_name("gint")) { g_value_set_int($0, number) }
  }

  package static func boolean(_ truth: Bool) -> GValue {
    make(g_type_from_name("gboolean")) { g_value_set_boolean($0, truth ? 1 : 0) }
  }

  private static func make(_ type: GType, _ set: (UnsafeMutablePointer<GValue>) -> Void) -> GValue {
    var value = GValue()
    g_value_init(&value, type)
    set(&value)
    return value
  }
}
