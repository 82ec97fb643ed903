import CGTK

/// A list of texts of which one is chosen.
public final class DropDown: Widget {
  private var isChanging = false

  /// - Parameter widget: A `GtkDropDown` that is there already.
  public init(_ widget: Widget) {
    super.init(retaining: widget.raw)
  }

  /// The texts. Setting others chooses the first.
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

  /// The text that is chosen.
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

  /// Calls a closure when the person has chosen another.
  public func onSelect(_ handler: @escaping @MainActor () -> Void) {
    connect("notify::selected") { [weak self] in
      if self?.isChanging == false { handler() }
    }
  }
}
