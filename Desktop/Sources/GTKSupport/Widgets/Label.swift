import CGTK

/// Lines of text, which are also its accessible name.
public final class Label: Widget {
  /// - Parameter text: The initial text.
  public init(_ text: String = "") {
    super.init(taking: gtk_label_new(text))
    gtk_label_set_xalign(opaque, 0)
    gtk_label_set_wrap(opaque, 1)
    gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
  }

  /// - Parameter text: The text, as a dialog has it.
  init(centered text: String) {
    super.init(taking: gtk_label_new(text))
    gtk_label_set_wrap(opaque, 1)
    gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
    gtk_label_set_justify(opaque, GTK_JUSTIFY_CENTER)
    gtk_label_set_max_width_chars(opaque, 40)
    // A hyphen would change a name.
    let attributes = pango_attr_list_new()
    pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(0))
    gtk_label_set_attributes(opaque, attributes)
    pango_attr_list_unref(attributes)
  }

  /// The text.
  public var text: String {
    get { String(cString: gtk_label_get_text(opaque)) }
    set { gtk_label_set_text(opaque, newValue) }
  }
}
