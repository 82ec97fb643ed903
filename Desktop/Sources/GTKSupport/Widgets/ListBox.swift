import CGTK

/// A list of a few rows, each a widget.
public final class ListBox: Widget {
  /// - Parameter widget: A `GtkListBox` of a description, without rows.
  public init(_ widget: Widget) {
    super.init(retaining: widget.raw)
  }

  /// The rows, from the first to the last.
  public var rows: [Widget] = [] {
    didSet {
      for row in oldValue { gtk_list_box_remove(opaque, row.cast()) }
      for row in rows { gtk_list_box_append(opaque, row.cast()) }
    }
  }
}
