import CGTK

/// Buttons, one below the other.
public final class ButtonColumn: Widget {
  private let handler: @MainActor (String) -> Void
  private var labels: [String] = []

  /// - Parameters:
  ///   - widget: An empty `GtkBox` of a description.
  ///   - handler: Takes the text of the button that was clicked.
  public init(_ widget: Widget, _ handler: @escaping @MainActor (String) -> Void) {
    self.handler = handler
    super.init(retaining: widget.raw)
  }

  /// Shows buttons with these texts.
  public func show(_ labels: [String]) {
    guard labels != self.labels else { return }
    self.labels = labels
    for child in children { gtk_box_remove(cast(), child.cast()) }
    for label in labels {
      let button = Button(label)
      button.addStyle("pill")
      gtk_widget_set_halign(button.cast(), GTK_ALIGN_CENTER)
      if let text = gtk_button_get_child(button.cast()) {
        gtk_label_set_wrap(OpaquePointer(text), 0)
        gtk_label_set_ellipsize(OpaquePointer(text), PANGO_ELLIPSIZE_MIDDLE)
      }
      button.onClick { [weak self] in self?.handler(label) }
      gtk_box_append(cast(), button.cast())
    }
  }
}
