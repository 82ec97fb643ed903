import CGTK

/// Text of many lines, which can be read and copied.
public final class TextView: Widget {
  public init() {
    super.init(taking: gtk_text_view_new())
    gtk_text_view_set_editable(cast(), 0)
    gtk_text_view_set_cursor_visible(cast(), 0)
    gtk_text_view_set_wrap_mode(cast(), GTK_WRAP_WORD_CHAR)
  }

  public var text: String {
    get {
      var start = GtkTextIter()
      var end = GtkTextIter()
      gtk_text_buffer_get_bounds(buffer, &start, &end)
      let text = gtk_text_buffer_get_text(buffer, &start, &end, 0)
      defer { g_free(text) }
      return text.map { String(cString: $0) } ?? ""
    }
    set { gtk_text_buffer_set_text(buffer, newValue, -1) }
  }

  /// Adds text at the end and shows it.
  public func append(_ text: String) {
    var end = GtkTextIter()
    gtk_text_buffer_get_end_iter(buffer, &end)
    gtk_text_buffer_insert(buffer, &end, text, -1)
    gtk_text_view_scroll_to_mark(cast(), gtk_text_buffer_get_insert(buffer), 0, 0, 0, 1)
  }

  private var buffer: UnsafeMutablePointer<GtkTextBuffer>? { gtk_text_view_get_buffer(cast()) }
}
