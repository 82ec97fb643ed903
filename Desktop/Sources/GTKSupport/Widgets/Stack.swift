import CGTK

/// Pages with one visible.
public final class Stack: Widget {
  /// - Parameter widget: A `GtkStack` of a description.
  public init(_ widget: Widget) {
    super.init(retaining: widget.raw)
  }

  /// Shows a page. The others are also hidden from screen readers, which GTK 4.8 does not do by itself.
  public func show(_ name: String) {
    guard let wanted = gtk_stack_get_child_by_name(opaque, name) else { return }
    gtk_widget_set_visible(wanted, 1)
    gtk_stack_set_visible_child(opaque, wanted)
    var child = gtk_widget_get_first_child(cast())
    while let page = child {
      if page != wanted { gtk_widget_set_visible(page, 0) }
      child = gtk_widget_get_next_sibling(page)
    }
  }
}
