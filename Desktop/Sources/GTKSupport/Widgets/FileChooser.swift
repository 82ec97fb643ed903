import CGTK

/// The desktop's dialog for choosing a file.
public enum FileChooser {
  /// Shows the dialog and waits for the choice, without blocking the loop.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - window: The window below it.
  /// - Returns: The file's path; `nil` if none was chosen.
  @MainActor
  public static func open(_ title: String, over window: Widget) async -> String? {
    let chooser = GTKObject(
      taking: UnsafeMutableRawPointer(
        gtk_file_chooser_native_new(title, window.cast(), GTK_FILE_CHOOSER_ACTION_OPEN, nil, nil)))
    gtk_native_dialog_set_modal(chooser.cast(), 1)
    let isChosen = await withCheckedContinuation { continuation in
      chooser.connect("response") { arguments in
        continuation.resume(returning: arguments.int(0) == GTK_RESPONSE_ACCEPT.rawValue)
        return false
      }
      gtk_native_dialog_show(chooser.cast())
    }
    defer { gtk_native_dialog_destroy(chooser.cast()) }
    guard isChosen, let file = gtk_file_chooser_get_file(chooser.opaque) else { return nil }
    defer { g_object_unref(UnsafeMutableRawPointer(file)) }
    guard let path = g_file_get_path(file) else { return nil }
    defer { g_free(path) }
    return String(cString: path)
  }
}
