import CGTK

/// Lines of text, which are also its accessible name.
public final class Label: Widget {
  /// - Parameter text: The initial text.
  public init(_ text: String = "") {
    super.init(taking: gtk_label_new(text))
    gtk_label_set_xalign(opaque, 0)
    gtk_label_set_wrap(opaque, 1)
  }

  /// The text.
  public var text: String {
    get { String(cString: gtk_label_get_text(opaque)) }
    set { gtk_label_set_text(opaque, newValue) }
  }
}
