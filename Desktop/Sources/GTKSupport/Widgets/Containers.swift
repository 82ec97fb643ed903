import CGTK

/// Widgets in a row or a column.
public final class Box: Widget {
  /// The direction of the widgets.
  public enum Direction: Sendable {
    case horizontal, vertical
  }

  /// - Parameters:
  ///   - direction: Whether it is a row or a column.
  ///   - spacing: The space between two widgets, in pixels.
  public init(_ direction: Direction, spacing: Int32 = 0) {
    let orientation = direction == .horizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL
    super.init(taking: gtk_box_new(orientation, spacing))
  }

  /// Adds a widget at the end.
  public func append(_ widget: Widget) {
    gtk_box_append(cast(), widget.cast())
  }
}

/// Scrolls a larger widget.
public final class ScrolledWindow: Widget {
  /// - Parameter child: The widget.
  public init(_ child: Widget) {
    super.init(taking: gtk_scrolled_window_new())
    gtk_scrolled_window_set_child(opaque, child.cast())
  }
}
