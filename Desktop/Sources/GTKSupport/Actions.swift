import CGTK

extension GTKObject {
  /// Adds an action to an application or a window, for menus and shortcuts.
  ///
  /// - Parameters:
  ///   - name: Its name, without `app.` or `win.`.
  ///   - handler: Its handler.
  public func addAction(_ name: String, _ handler: @escaping @MainActor () -> Void) {
    let action = GTKObject(taking: UnsafeMutableRawPointer(g_simple_action_new(name, nil)))
    action.connect("activate", handler)
    g_action_map_add_action(opaque, action.opaque)
  }
}

extension Application {
  /// Sets the keyboard shortcuts of an action.
  ///
  /// - Parameters:
  ///   - keys: Such as `<Control>f`.
  ///   - action: Its full name, such as `win.search`.
  public func setShortcuts(_ keys: [String], for action: String) {
    let texts = keys.map { strdup($0) }
    defer { texts.forEach { free($0) } }
    var pointers = texts.map { UnsafePointer($0) } + [nil]
    gtk_application_set_accels_for_action(cast(), action, &pointers)
  }
}
