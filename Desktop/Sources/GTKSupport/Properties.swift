import CGTK

// GLib reports an unknown property on standard error and sets nothing.
extension GTKObject {
  /// Sets a text property.
  public func set(_ property: String, _ text: String) {
    set(property, GTK_FUNDAMENTAL_STRING) { g_value_set_string($0, text) }
  }

  /// Sets a Boolean property.
  public func set(_ property: String, _ flag: Bool) {
    set(property, GTK_FUNDAMENTAL_BOOLEAN) { g_value_set_boolean($0, flag ? 1 : 0) }
  }

  /// Sets a floating-point property.
  public func set(_ property: String, _ number: Double) {
    set(property, GTK_FUNDAMENTAL_DOUBLE) { g_value_set_double($0, number) }
  }

  /// Sets an object property.
  public func set(_ property: String, _ object: GTKObject?) {
    set(property, GTK_FUNDAMENTAL_OBJECT) { g_value_set_object($0, object?.raw) }
  }

  /// A Boolean property.
  public func flag(of property: String) -> Bool {
    var value = GValue()
    g_value_init(&value, GTK_FUNDAMENTAL_BOOLEAN)
    defer { g_value_unset(&value) }
    g_object_get_property(cast(), property, &value)
    return g_value_get_boolean(&value) != 0
  }

  /// A text property; empty if it is unset.
  public func text(of property: String) -> String {
    var value = GValue()
    g_value_init(&value, GTK_FUNDAMENTAL_STRING)
    defer { g_value_unset(&value) }
    g_object_get_property(cast(), property, &value)
    return g_value_get_string(&value).map { String(cString: $0) } ?? ""
  }

  private func set(_ property: String, _ type: GType, _ fill: (UnsafeMutablePointer<GValue>) -> Void) {
    var value = GValue()
    g_value_init(&value, type)
    fill(&value)
    g_object_set_property(cast(), property, &value)
    g_value_unset(&value)
  }
}
