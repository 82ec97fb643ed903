import CGTK
import Localization

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

/// A moment as date and time of day, in the words and the time zone of the desktop.
///
/// - Parameter seconds: Since 1970.
/// - Returns: Such as "23 November 2026, 13:05"; empty for a moment that is not in the years 1 to 9999.
public func dateText(_ seconds: Double) -> String {
  guard let seconds = gint64(exactly: seconds.rounded(.down)),
    let date = g_date_time_new_from_unix_local(seconds)
  else { return "" }
  defer { g_date_time_unref(date) }
  guard let text = g_date_time_format(date, localized("%-d %B %Y, %H:%M")) else { return "" }
  defer { g_free(text) }
  return String(cString: text)
}
