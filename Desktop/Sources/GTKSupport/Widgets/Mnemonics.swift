import CGTK

extension Widget {
  /// Sets the text of a button, if it differs; an underscore precedes its mnemonic letter.
  public func setMnemonicLabel(_ label: String) {
    guard gtk_button_get_label(cast()).map({ String(cString: $0) }) != label else { return }
    gtk_button_set_use_underline(cast(), 1)
    gtk_button_set_label(cast(), label)
    if let text = gtk_button_get_child(cast()) {
      gtk_label_set_wrap(OpaquePointer(text), 1)
      gtk_label_set_justify(OpaquePointer(text), GTK_JUSTIFY_CENTER)
    }
    mendMnemonicNames()
  }

  /// Sets the accessible names of its buttons with a mnemonic to their texts.
  ///
  /// GTK 4.8 names such a button by its text with the underscore, followed by its label.
  public func mendMnemonicNames() {
    let isButton = g_type_check_instance_is_a(cast(), gtk_button_get_type()) != 0
    if isButton, gtk_button_get_use_underline(cast()) != 0 {
      gtk_accessible_reset_property(opaque, GTK_ACCESSIBLE_PROPERTY_LABEL)
    }
    for child in children { child.mendMnemonicNames() }
  }
}
