import CGTK
import Glibc
import Localization

extension Widget {
  /// Shows a message for some seconds, over an `AdwToastOverlay`, and lets screen readers say it.
  ///
  /// - Parameters:
  ///   - text: The message.
  ///   - former: The message before, which ends.
  /// - Returns: The message.
  public func showToast(_ text: String, insteadOf former: GTKObject?) -> GTKObject {
    if let former { adw_toast_dismiss(former.opaque) }
    // The role of a widget can be chosen only when it is made.
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
    announce(text, until: toast)
    return toast
  }

  /// GTK 4.8 sends screen readers no event of an alert, but one of a new description, which they say of what has the focus.
  private func announce(_ text: String, until toast: GTKObject) {
    if let function = dlsym(nil, "gtk_accessible_announce") {
      // GTK 4.14 and later. 1 is the medium priority.
      typealias Announce = @convention(c) (OpaquePointer, UnsafePointer<CChar>, Int32) -> Void
      return unsafeBitCast(function, to: Announce.self)(opaque, text, 1)
    }
    guard let root = gtk_widget_get_root(cast()) else { return }
    let focused = gtk_root_get_focus(root).map { Widget(retaining: UnsafeMutableRawPointer($0)) }
    let place = focused ?? Widget(retaining: UnsafeMutableRawPointer(root))
    place.setAccessibleDescription(text)
    toast.connect("dismissed") {
      gtk_accessible_reset_property(place.opaque, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION)
    }
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
