import CGTK

/// Widgets in a row or a column.
public final class Box: Widget {
  /// Where the next widget is.
  public enum Direction: Sendable {
    case horizontal, vertical
  }

  /// - Parameters:
  ///   - direction: Whether it is a row or a column.
  ///   - spacing: The room between two widgets, in pixels.
  public init(_ direction: Direction, spacing: Int32 = 0) {
    let orientation = direction == .horizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL
    super.init(taking: gtk_box_new(orientation, spacing))
  }

  /// Adds a widget after those that are there.
  public func append(_ widget: Widget) {
    gtk_box_append(cast(), widget.cast())
  }
}

/// Shows a part of a widget that may be larger.
public final class ScrolledWindow: Widget {
  /// - Parameter child: The widget.
  public init(_ child: Widget) {
    super.init(taking: gtk_scrolled_window_new())
    gtk_scrolled_window_set_child(opaque, child.cast())
  }
}
