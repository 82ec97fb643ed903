import CGTK

/// A button with a text, which is its accessible name, too.
public final class Button: Widget {
  public init(_ label: String) {
    super.init(taking: gtk_button_new_with_label(label))
  }

  public func onClick(_ handler: @escaping @MainActor () -> Void) {
    connect("clicked", handler)
  }
}
