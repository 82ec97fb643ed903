import CGTK

/// Owns one reference of a GObject.
///
/// GTK belongs to the first thread, and so does everything here to the main actor. What GTK keeps (a widget in a window)
/// lives on without its Swift object; its signal handlers do, too.
///
/// The casts that C does by macros are ``cast(to:)``, where C's structure is public, and ``opaque``, where it is
/// not.
@MainActor
open class GTKObject {
  /// The object, for functions of GTK that have no Swift form yet.
  public let raw: UnsafeMutableRawPointer

  /// Takes a reference that the caller owns. A floating one, as constructors of widgets return it, becomes a real one.
  public init(taking raw: UnsafeMutableRawPointer) {
    self.raw = g_object_is_floating(raw) != 0 ? g_object_ref_sink(raw) : raw
  }

  /// Adds a reference of its own to an object with another owner.
  public init(retaining raw: UnsafeMutableRawPointer) {
    self.raw = g_object_ref(raw)
  }

  isolated deinit { g_object_unref(raw) }

  /// The object as a type of C whose structure is public; what C writes `GTK_WINDOW(object)`.
  ///
  /// Like C's macros without checks, it believes the caller.
  public func cast<T>(to: T.Type = T.self) -> UnsafeMutablePointer<T> {
    raw.assumingMemoryBound(to: T.self)
  }

  /// The object as a type of C whose structure is private.
  public var opaque: OpaquePointer { OpaquePointer(raw) }
}
