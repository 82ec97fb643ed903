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

  /// Lets it scroll vertically alone, and be as high as its child where there is space.
  public func scrollsVerticallyOnly() {
    gtk_scrolled_window_set_policy(opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
    gtk_scrolled_window_set_propagate_natural_height(opaque, 1)
    expand(vertically: true)
  }

  /// Makes it as high as its child needs it to be, up to half of the screen.
  ///
  /// GTK 4.8 asks the child only for its height at the width that it would like to have.
  func fit(_ child: Widget) {
    let display = gtk_widget_get_display(cast())
    guard let root = gtk_widget_get_native(cast()), let surface = gtk_native_get_surface(root),
      let monitor = gdk_display_get_monitor_at_surface(display, surface)
    else { return }
    var screen = GdkRectangle()
    gdk_monitor_get_geometry(monitor, &screen)
    var natural: Int32 = 0
    gtk_widget_measure(
      child.cast(), GTK_ORIENTATION_VERTICAL, gtk_widget_get_width(child.cast()), nil, &natural, nil, nil)
    let height = min(natural, screen.height / 2)
    if height != gtk_scrolled_window_get_min_content_height(opaque) {
      gtk_scrolled_window_set_min_content_height(opaque, height)
    }
  }
}
