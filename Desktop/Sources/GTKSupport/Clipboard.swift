import CGTK

/// The clipboard for secrets, which must not stay there.
@MainActor
public final class Clipboard {
  private let clipboard: OpaquePointer?
  private var content: GTKObject?
  private var ending: Task<Void, Never>?

  /// - Parameter widget: A widget on the clipboard's display.
  public init(of widget: Widget) {
    clipboard = gtk_widget_get_clipboard(widget.cast())
  }

  /// Copies a secret for some time. Programs with a history of the clipboard are asked to ignore it.
  ///
  /// - Parameters:
  ///   - secret: The text.
  ///   - time: After which it is removed, unless the clipboard has changed.
  public func copy(secret: String, for time: Duration) {
    let parts = [("text/plain;charset=utf-8", secret), ("x-kde-passwordManagerHint", "secret")].map {
      type, text in
      let bytes = Array(text.utf8)
      let data = g_bytes_new(bytes, gsize(bytes.count))
      defer { g_bytes_unref(data) }
      return gdk_content_provider_new_for_bytes(type, data)
    }
    // It takes ownership of its parts.
    var providers = parts
    let union = GTKObject(
      taking: UnsafeMutableRawPointer(gdk_content_provider_new_union(&providers, gsize(providers.count))))
    gdk_clipboard_set_content(clipboard, union.cast())
    content = union
    ending?.cancel()
    ending = Task { [weak self] in
      guard (try? await Task.sleep(for: time)) != nil else { return }
      self?.clear()
    }
  }

  /// Copies a text that is not secret, and stays.
  public func copy(_ text: String) { gdk_clipboard_set_text(clipboard, text) }

  /// Removes the secret, unless the clipboard has changed.
  public func clear() {
    ending?.cancel()
    guard let content else { return }
    if gdk_clipboard_get_content(clipboard) == content.cast(to: GdkContentProvider.self) {
      gdk_clipboard_set_content(clipboard, nil)
    }
    self.content = nil
  }
}
