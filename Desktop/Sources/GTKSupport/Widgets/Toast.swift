import CGTK
import Localization

extension Widget {
  /// Shows a message for some seconds, over an `AdwToastOverlay`, with the role of an alert.
  ///
  /// - Parameters:
  ///   - text: The message.
  ///   - former: The message before, which ends.
  /// - Returns: The message.
  public func showToast(_ text: String, insteadOf former: GTKObject?) -> GTKObject {
    if let former { adw_toast_dismiss(former.opaque) }
    // The role of a widget can be chosen only when it is made. GTK 4.8 sends screen readers no event for it.
    let builder = Builder(
      """
      <interface>
        <object class="GtkLabel" id="text">
          <property name="accessible-role">alert</property>
          <property name="ellipsize">end</property>
        </object>
      </interface>
      """)
    let label = builder.widget("text")
    label.set("label", text)
    guard let made = adw_toast_new("") else { return label }
    let toast = GTKObject(retaining: UnsafeMutableRawPointer(made))
    toast.set("custom-title", label)
    adw_toast_overlay_add_toast(opaque, made)
    children.last?.nameCloseButtons()
    return toast
  }

  private func nameCloseButtons() {
    for child in children {
      if g_type_check_instance_is_a(child.cast(), gtk_button_get_type()) != 0,
        child.text(of: "icon-name") == "window-close-symbolic"
      {
        child.setAccessibleName(localized("Dismiss"))
      }
    }
  }
}
