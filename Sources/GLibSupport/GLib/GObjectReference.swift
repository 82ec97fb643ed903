import CGLib

/// Owns one reference of a GObject.
///
/// `@unchecked Sendable`: reference counting of a GObject is atomic, and the pointer never changes. Whether
/// the object's own functions may be called from several threads is the caller's to know.
package final class GObjectReference<Object>: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<Object>

  /// Takes over the reference the caller holds.
  package init(taking pointer: UnsafeMutablePointer<Object>) {
    self.pointer = pointer
  }

  deinit { g_object_unref(pointer) }
}
