import CGTK

/// A button with a text, which is also its accessible name.
public final class Button: Widget {
  /// - Parameter label: The text.
  public init(_ label: String) {
    super.init(taking: gtk_button_new_with_label(label))
    if let text = gtk_button_get_child(cast()) {
      gtk_label_set_wrap(OpaquePointer(text), 1)
      gtk_label_set_justify(OpaquePointer(text), GTK_JUSTIFY_CENTER)
    }
  }

  /// Calls a closure for each click, or its equivalent on the keyboard.
  public func onClick(_ handler: @escaping @MainActor () -> Void) {
    connect("clicked", handler)
  }
}
