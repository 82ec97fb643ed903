import CGTK

/// A list of texts with one selected.
public final class DropDown: Widget {
  private let strings = StringList()
  private var isChanging = false
  private let name: String

  /// - Parameter name: What is selected, for screen readers.
  public convenience init(name: String) {
    self.init(Widget(taking: gtk_drop_down_new(nil, nil)), name: name)
  }

  /// - Parameters:
  ///   - widget: A `GtkDropDown` of a description.
  ///   - name: What is selected, for screen readers.
  public init(_ widget: Widget, name: String) {
    self.name = name
    super.init(retaining: widget.raw)
    let factory = GTKObject(taking: UnsafeMutableRawPointer(gtk_signal_list_item_factory_new()))
    factory.connect("setup") { arguments in
      guard let item = arguments.object(0) else { return false }
      let label = Label()
      gtk_label_set_wrap(label.opaque, 0)
      gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_MIDDLE)
      gtk_list_item_set_child(OpaquePointer(item), label.cast())
      return false
    }
    factory.connect("bind") { arguments in
      guard let item = arguments.object(0).map({ OpaquePointer($0) }),
        let string = gtk_list_item_get_item(item), let label = gtk_list_item_get_child(item)
      else { return false }
      let text = gtk_string_object_get_string(OpaquePointer(string))
      gtk_label_set_text(OpaquePointer(label), text)
      // GTK gives the row no accessible name.
      if let row = gtk_widget_get_parent(label) {
        Widget(retaining: row).setAccessibleName(text.map { String(cString: $0) } ?? "")
      }
      return false
    }
    set("factory", factory)
    gtk_drop_down_set_model(opaque, strings.opaque)
  }

  /// The texts. What remains keeps its row, so that a list that is open keeps its focus.
  public var items: [String] {
    get { strings.texts }
    set {
      isChanging = true
      for change in newValue.difference(from: items) {
        switch change {
        case .remove(let position, _, _): strings.replace(position..<position + 1, with: [])
        case .insert(let position, let text, _): strings.replace(position..<position, with: [text])
        }
      }
      isChanging = false
    }
  }

  /// The selected text.
  public var selected: String? {
    get {
      let position = Int(gtk_drop_down_get_selected(opaque))
      return items.indices.contains(position) ? items[position] : nil
    }
    set {
      isChanging = true
      let position = newValue.flatMap { items.firstIndex(of: $0) }
      gtk_drop_down_set_selected(opaque, position.map(UInt32.init) ?? GTK_INVALID_LIST_POSITION)
      isChanging = false
      nameButton()
    }
  }

  /// Calls a closure when the user has selected another.
  public func onSelect(_ handler: @escaping @MainActor () -> Void) {
    connect("notify::selected") { [weak self] in
      self?.nameButton()
      if self?.isChanging == false { handler() }
    }
  }

  /// GTK gives the button inside, which has the focus, no accessible name.
  private func nameButton() {
    guard let button = gtk_widget_get_first_child(cast()) else { return }
    Widget(retaining: button).setAccessibleName([name, selected].compactMap(\.self).joined(separator: ": "))
  }
}
