import CGTK

/// A widget in a window.
open class Widget: GTKObject {
  /// Whether it accepts input.
  public var isSensitive: Bool {
    get { gtk_widget_get_sensitive(cast()) != 0 }
    set { gtk_widget_set_sensitive(cast(), newValue ? 1 : 0) }
  }

  /// Whether it is shown with its window.
  public var isVisible: Bool {
    get { gtk_widget_get_visible(cast()) != 0 }
    set { gtk_widget_set_visible(cast(), newValue ? 1 : 0) }
  }

  /// Lets it take the available space, horizontally or vertically.
  public func expand(horizontally: Bool = false, vertically: Bool = false) {
    gtk_widget_set_hexpand(cast(), horizontally ? 1 : 0)
    gtk_widget_set_vexpand(cast(), vertically ? 1 : 0)
  }

  /// Its margin, in pixels.
  public func setMargin(_ pixels: Int32) {
    gtk_widget_set_margin_top(cast(), pixels)
    gtk_widget_set_margin_bottom(cast(), pixels)
    gtk_widget_set_margin_start(cast(), pixels)
    gtk_widget_set_margin_end(cast(), pixels)
  }

  /// Whether its content is clipped at its rounded corners.
  public var clipsContent: Bool {
    get { gtk_widget_get_overflow(cast()) == GTK_OVERFLOW_HIDDEN }
    set { gtk_widget_set_overflow(cast(), newValue ? GTK_OVERFLOW_HIDDEN : GTK_OVERFLOW_VISIBLE) }
  }

  /// Adds a class of the style sheet, for example `suggested-action`.
  public func addStyle(_ name: String) {
    gtk_widget_add_css_class(cast(), name)
  }

  /// Sets the accessible name of a widget without a text.
  public func setAccessibleName(_ name: String) { setAccessible(GTK_ACCESSIBLE_PROPERTY_LABEL, name) }

  /// Sets what screen readers say after the name.
  public func setAccessibleDescription(_ text: String) {
    setAccessible(GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text)
  }

  private func setAccessible(_ property: GtkAccessibleProperty, _ text: String) {
    var property = property
    var value = GValue()
    g_value_init(&value, GTK_FUNDAMENTAL_STRING)
    g_value_set_string(&value, text)
    gtk_accessible_update_property_value(opaque, 1, &property, &value)
    g_value_unset(&value)
  }

  /// What is directly in it.
  var children: [Widget] {
    var children: [Widget] = []
    var next = gtk_widget_get_first_child(cast())
    while let child = next {
      children.append(Widget(retaining: child))
      next = gtk_widget_get_next_sibling(child)
    }
    return children
  }

  /// Gives it the keyboard's focus, so that screen readers announce its name and description.
  public func focus() { gtk_widget_grab_focus(cast()) }

  /// Forgets where in it the focus was last, and so would enter again.
  func forgetFocus() {
    var widget: UnsafeMutablePointer<GtkWidget>? = cast()
    while let parent = widget {
      widget = gtk_widget_get_focus_child(parent)
      gtk_widget_set_focus_child(parent, nil)
    }
  }

  /// Calls a closure whenever the keyboard's focus enters it.
  public func onFocus(_ handler: @escaping @MainActor () -> Void) {
    guard let controller = gtk_event_controller_focus_new() else { return }
    // The widget owns it.
    gtk_widget_add_controller(cast(), controller)
    GTKObject(retaining: UnsafeMutableRawPointer(controller)).connect("enter", handler)
  }

  /// Calls a closure whenever its window was painted: the layout is known then, and changes with the size of the window.
  func afterPaint(_ handler: @escaping @MainActor () -> Void) {
    guard let clock = gtk_widget_get_frame_clock(cast()) else { return }
    GTKObject(retaining: UnsafeMutableRawPointer(clock)).connect("after-paint", handler)
  }

  /// Calls a closure for the Escape key.
  public func onEscape(_ handler: @escaping @MainActor () -> Void) { onKey(GDK_KEY_Escape, handler) }

  /// Calls a closure for the arrow key that leads down.
  public func onDown(_ handler: @escaping @MainActor () -> Void) { onKey(GDK_KEY_Down, handler) }

  private func onKey(_ wanted: Int32, _ handler: @escaping @MainActor () -> Void) {
    onKey { key in
      guard key == UInt32(wanted) else { return false }
      handler()
      return true
    }
  }

  /// Calls a closure for a key, before the widgets inside have it.
  ///
  /// - Parameter handler: Takes GDK's number of the key, and returns whether it was handled.
  public func onKey(_ handler: @escaping @MainActor (UInt32) -> Bool) {
    guard let controller = gtk_event_controller_key_new() else { return }
    gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
    // The widget owns it.
    gtk_widget_add_controller(cast(), controller)
    GTKObject(retaining: UnsafeMutableRawPointer(controller)).connect("key-pressed") { arguments in
      arguments.uint(0).map(handler) ?? false
    }
  }
}
