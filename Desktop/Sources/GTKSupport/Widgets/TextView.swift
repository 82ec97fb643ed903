import CGTK

/// Read-only text of many lines.
public final class TextView: Widget {
  /// - Parameter margin: The margin around the text, in pixels.
  public init(margin: Int32 = 12) {
    super.init(taking: gtk_text_view_new())
    gtk_text_view_set_editable(cast(), 0)
    gtk_text_view_set_cursor_visible(cast(), 0)
    gtk_text_view_set_monospace(cast(), 1)
    gtk_text_view_set_wrap_mode(cast(), GTK_WRAP_WORD_CHAR)
    gtk_text_view_set_top_margin(cast(), margin)
    gtk_text_view_set_bottom_margin(cast(), margin)
    gtk_text_view_set_left_margin(cast(), margin)
    gtk_text_view_set_right_margin(cast(), margin)
  }

  /// Adds text at the end and shows it.
  public func append(_ text: String) {
    let buffer = gtk_text_view_get_buffer(cast())
    var end = GtkTextIter()
    gtk_text_buffer_get_end_iter(buffer, &end)
    gtk_text_buffer_insert(buffer, &end, text, -1)
    gtk_text_buffer_place_cursor(buffer, &end)
    gtk_text_view_scroll_mark_onscreen(cast(), gtk_text_buffer_get_insert(buffer))
  }
}
