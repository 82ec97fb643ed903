import CGTK

extension Widget {
  /// Adds rules to the style sheet of the display that the widget is on.
  public func loadStyle(_ rules: String) {
    let provider = GTKObject(taking: UnsafeMutableRawPointer(gtk_css_provider_new()))
    gtk_css_provider_load_from_data(provider.cast(), rules, -1)
    gtk_style_context_add_provider_for_display(
      gtk_widget_get_display(cast()), provider.opaque, UInt32(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
  }

  /// Adds or removes a class of the style sheet.
  public func setStyle(_ name: String, _ isOn: Bool) {
    if isOn { gtk_widget_add_css_class(cast(), name) } else { gtk_widget_remove_css_class(cast(), name) }
  }
}

/// A text escaped for Pango's markup.
public func markup(_ text: String) -> String {
  guard let escaped = g_markup_escape_text(text, -1) else { return "" }
  defer { g_free(escaped) }
  return String(cString: escaped)
}
