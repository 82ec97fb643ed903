import CGTK

/// Owns one reference of a GObject.
///
/// GTK belongs to the first thread, so everything here is on the main actor. Objects that GTK retains (a widget in a window)
/// outlive their Swift objects, with their signal handlers.
///
/// C's casts by macros are ``cast(to:)`` for public structures and ``opaque`` for others.
@MainActor
open class GTKObject {
  /// The object, for functions of GTK without a Swift form.
  public let raw: UnsafeMutableRawPointer

  /// Takes a reference that the caller owns. A floating one, as from constructors of widgets, becomes a real one.
  public init(taking raw: UnsafeMutableRawPointer) {
    self.raw = g_object_is_floating(raw) != 0 ? g_object_ref_sink(raw) : raw
  }

  /// Adds a reference to an object with another owner.
  public init(retaining raw: UnsafeMutableRawPointer) {
    self.raw = g_object_ref(raw)
  }

  isolated deinit { g_object_unref(raw) }

  /// The object as a type of C whose structure is public; in C `GTK_WINDOW(object)`.
  ///
  /// The type is not checked, as in C's macros without checks.
  public func cast<T>(to: T.Type = T.self) -> UnsafeMutablePointer<T> {
    raw.assumingMemoryBound(to: T.self)
  }

  /// The object as a type of C whose structure is private.
  public var opaque: OpaquePointer { OpaquePointer(raw) }
}
