import CGTK

/// A line or more of text, which is its accessible name, too.
public final class Label: Widget {
  /// - Parameter text: What it says at first.
  public init(_ text: String = "") {
    super.init(taking: gtk_label_new(text))
    gtk_label_set_xalign(opaque, 0)
    gtk_label_set_wrap(opaque, 1)
  }

  /// What it says.
  public var text: String {
    get { String(cString: gtk_label_get_text(opaque)) }
    set { gtk_label_set_text(opaque, newValue) }
  }
}
