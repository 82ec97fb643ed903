import CGTK

/// A window with its own header bar.
///
/// The desktop owns it until it is closed.
public final class Window: Widget {
  private let body = Box(.vertical)

  /// - Parameters:
  ///   - application: Runs while one of its windows is open.
  ///   - title: The title.
  ///   - width: The initial width, in pixels.
  ///   - height: The initial height, in pixels.
  public init(_ application: Application, title: String, width: Int32, height: Int32) {
    super.init(retaining: adw_application_window_new(application.cast()))
    gtk_window_set_title(cast(), title)
    gtk_window_set_default_size(cast(), width, height)
    body.append(Widget(taking: adw_header_bar_new()))
    adw_application_window_set_content(cast(), body.cast())
  }

  /// - Parameters:
  ///   - application: Runs while one of its windows is open.
  ///   - builder: Describes the window, an `AdwApplicationWindow`.
  ///   - id: Its `id` there.
  public init(_ application: Application, _ builder: Builder, _ id: String) {
    super.init(retaining: builder.widget(id).raw)
    set("application", application)
    mendMnemonicNames()
  }

  /// - Parameters:
  ///   - builder: Describes the window.
  ///   - id: Its `id` there.
  ///   - parent: The window that it belongs to.
  public init(_ builder: Builder, _ id: String, over parent: Window) {
    super.init(retaining: builder.widget(id).raw)
    set("transient-for", parent)
    mendMnemonicNames()
  }

  /// Sets the list of keyboard shortcuts for the action `win.show-help-overlay`.
  public func setShortcutsWindow(_ builder: Builder, _ id: String) {
    gtk_application_window_set_help_overlay(cast(), OpaquePointer(builder.object(id)))
  }

  /// Whether the keyboard's focus is in a text that can be edited.
  public var isTextFocused: Bool {
    guard let focused = gtk_window_get_focus(cast()) else { return false }
    let widget = Widget(retaining: UnsafeMutableRawPointer(focused))
    return g_type_check_instance_is_a(widget.cast(), gtk_editable_get_type()) != 0
      && widget.flag(of: "editable")
  }

  /// Its size where it is not maximized, in pixels.
  public var size: (width: Int32, height: Int32) {
    get {
      var (width, height): (Int32, Int32) = (0, 0)
      gtk_window_get_default_size(cast(), &width, &height)
      return (width, height)
    }
    set { gtk_window_set_default_size(cast(), newValue.width, newValue.height) }
  }

  /// Whether it fills the screen.
  public var isMaximized: Bool {
    get { gtk_window_is_maximized(cast()) != 0 }
    set { if newValue { gtk_window_maximize(cast()) } else { gtk_window_unmaximize(cast()) } }
  }

  /// Adds a widget below the others.
  public func append(_ widget: Widget) {
    body.append(widget)
  }

  /// Shows the window, in front of the others.
  public func present() {
    gtk_window_present(cast())
  }

  /// Closes the window, as its button does.
  public func close() {
    gtk_window_close(cast())
  }

  /// Calls a closure when the window is about to close.
  ///
  /// - Parameter handler: Returns whether the window may close.
  public func onCloseRequest(_ handler: @escaping @MainActor () -> Bool) {
    connect("close-request") { _ in !handler() }
  }
}
