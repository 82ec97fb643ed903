import CGTK

/// A line for a password, whose text is hidden until its icon is pressed.
public final class PasswordEntry: Widget {
  /// - Parameter name: What a screen reader calls it.
  public init(_ name: String) {
    super.init(retaining: UnsafeMutableRawPointer(gtk_password_entry_new()))
    set("show-peek-icon", true)
    set("activates-default", true)
    setAccessibleName(name)
  }

  /// What was typed.
  public var text: String { text(of: "text") }
}
