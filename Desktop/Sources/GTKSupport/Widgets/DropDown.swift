import CGTK

/// A list of texts with one selected.
public final class DropDown: Widget {
  private var isChanging = false

  /// - Parameter widget: A `GtkDropDown` of a description.
  public init(_ widget: Widget) {
    super.init(retaining: widget.raw)
  }

  /// The texts. A change selects the first.
  public var items: [String] = [] {
    didSet {
      guard items != oldValue else { return }
      let model = GTKObject(taking: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
      for item in items { gtk_string_list_append(model.opaque, item) }
      isChanging = true
      gtk_drop_down_set_model(opaque, model.opaque)
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
    }
  }

  /// Calls a closure when the user has selected another.
  public func onSelect(_ handler: @escaping @MainActor () -> Void) {
    connect("notify::selected") { [weak self] in
      if self?.isChanging == false { handler() }
    }
  }
}
