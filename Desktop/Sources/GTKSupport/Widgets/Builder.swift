import CGTK

/// Widgets from GtkBuilder's XML.
public final class Builder: GTKObject {
  /// - Parameter description: An `interface` element. An invalid description ends the process, as in GTK.
  public init(_ description: String) {
    super.init(taking: UnsafeMutableRawPointer(gtk_builder_new_from_string(description, -1)))
  }

  /// An object by its `id`; `nil` without one.
  public func object(_ id: String) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(gtk_builder_get_object(opaque, id))
  }

  /// A widget by its `id`, or an unused one without it.
  public func widget(_ id: String) -> Widget {
    guard let object = object(id) else { return Label("There is no \(id).") }
    return Widget(retaining: object)
  }
}
