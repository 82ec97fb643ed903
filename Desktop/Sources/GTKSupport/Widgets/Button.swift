import CGTK

/// A button with a text, which is also its accessible name.
public final class Button: Widget {
  /// - Parameter label: The text.
  public init(_ label: String) {
    super.init(taking: gtk_button_new_with_label(label))
  }

  /// Calls a closure for each click, or its equivalent on the keyboard.
  public func onClick(_ handler: @escaping @MainActor () -> Void) {
    connect("clicked", handler)
  }
}
