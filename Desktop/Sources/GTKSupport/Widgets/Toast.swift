import CGTK

extension Widget {
  /// Shows a message for some seconds, over an `AdwToastOverlay`.
  public func showToast(_ text: String) {
    adw_toast_overlay_add_toast(opaque, adw_toast_new(markup(text)))
  }
}
