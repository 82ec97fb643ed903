import CGTK

/// A row of a ``RowList``. Rows are made for visible elements and reused for others.
open class Row: Widget {
  /// Shows an element.
  open func show(_ id: String) {}

  /// The accessible name of the row.
  open var accessibleName: String { "" }
}

/// A list of any length, of which GTK makes only the visible rows and some around them.
///
/// Elements are identified by ids. They are added in small groups, one per turn of the loop, so that no turn takes long.
public final class RowList: Widget {
  /// The number of elements added in one turn of the loop.
  public static let step = 20

  /// The maximum number of rows made in one turn of the loop.
  public private(set) var mostRowsAtOnce = 0

  private let strings = StringList()
  private let selection: GTKObject?
  private let makeRow: @MainActor () -> Row
  private var rows: [UnsafeMutableRawPointer: Row] = [:]
  private var filling: Task<Void, Never>?
  private var isChanging = false
  /// The selected element while it is still to be added.
  private var awaited: String?
  private var rowsInTurn = 0

  /// - Parameters:
  ///   - isSelectable: Whether one row can be selected.
  ///   - makeRow: Makes a row without an element.
  public init(isSelectable: Bool, makeRow: @escaping @MainActor () -> Row) {
    self.makeRow = makeRow
    let factory: OpaquePointer = gtk_signal_list_item_factory_new()
    // Both constructors take ownership of their argument.
    let model: OpaquePointer
    if isSelectable {
      let selection = GTKObject(taking: UnsafeMutableRawPointer(gtk_single_selection_new(nil)))
      gtk_single_selection_set_autoselect(selection.opaque, 0)
      gtk_single_selection_set_can_unselect(selection.opaque, 1)
      gtk_single_selection_set_model(selection.opaque, strings.opaque)
      self.selection = selection
      model = OpaquePointer(g_object_ref(selection.raw))
    } else {
      selection = nil
      model = gtk_no_selection_new(OpaquePointer(g_object_ref(strings.raw)))
    }
    super.init(taking: gtk_list_view_new(model, factory))
    let signals = GTKObject(retaining: UnsafeMutableRawPointer(factory))
    signals.connect("setup") { [weak self] in self?.setUp($0) ?? false }
    signals.connect("bind") { [weak self] in self?.bind($0) ?? false }
    signals.connect("teardown") { [weak self] in
      $0.object(0).map { self?.rows[$0] = nil }
      return false
    }
    // The arrow keys go from row to row. GTK 4.8 would pass through all of them with Tab, too.
    if isSelectable { onKey { [weak self] in self?.leave(by: $0) ?? false } }
  }

  /// Moves the focus to what comes before or after the list.
  private func leave(by key: UInt32) -> Bool {
    guard [UInt32(GDK_KEY_Tab), UInt32(GDK_KEY_ISO_Left_Tab)].contains(key),
      let root = gtk_widget_get_root(cast())
    else { return false }
    gtk_widget_set_can_focus(cast(), 0)
    gtk_widget_child_focus(
      UnsafeMutableRawPointer(root).assumingMemoryBound(to: GtkWidget.self),
      key == UInt32(GDK_KEY_Tab) ? GTK_DIR_TAB_FORWARD : GTK_DIR_TAB_BACKWARD)
    gtk_widget_set_can_focus(cast(), 1)
    return true
  }

  private var ids: [String] { strings.texts }

  /// The number of elements added so far.
  public var count: Int { ids.count }

  /// The element whose row is selected.
  public var selected: String? {
    get {
      if let awaited { return awaited }
      guard let selection else { return nil }
      let position = Int(gtk_single_selection_get_selected(selection.opaque))
      return ids.indices.contains(position) ? ids[position] : nil
    }
    set {
      awaited = nil
      guard let selection else { return }
      let position = newValue.flatMap { ids.firstIndex(of: $0) }.map(UInt32.init) ?? GTK_INVALID_LIST_POSITION
      isChanging = true
      gtk_single_selection_set_selected(selection.opaque, position)
      isChanging = false
    }
  }

  /// Calls a closure when the user has selected another row.
  public func onSelect(_ handler: @escaping @MainActor () -> Void) {
    selection?.connect("notify::selected") { [weak self] in
      if self?.isChanging == false {
        self?.awaited = nil
        handler()
      }
    }
  }

  /// Shows other elements. Rows of remaining elements are updated; the selected one stays selected.
  public func show(_ wanted: [String]) {
    filling?.cancel()
    let chosen = selected
    awaited = nil
    let kept = zip(ids, wanted).prefix { $0 == $1 }.count
    // The remaining elements after the change.
    let end = zip(ids.dropFirst(kept).reversed(), wanted.dropFirst(kept).reversed()).prefix { $0 == $1 }.count
    replace(kept..<ids.count - end, with: [])
    refresh()
    var rest = wanted[kept..<wanted.count - end]
    var position = kept
    func fill() {
      rowsInTurn = 0
      replace(position..<position, with: Array(rest.prefix(Self.step)))
      position += min(rest.count, Self.step)
      rest = rest.dropFirst(Self.step)
      guard let chosen, selected == nil || awaited == chosen else { return }
      selected = chosen
      awaited = rest.contains(chosen) ? chosen : nil
    }
    fill()
    guard !rest.isEmpty else { return }
    filling = Task {
      // Lets GTK draw and handle input.
      while !rest.isEmpty, (try? await Task.sleep(for: .milliseconds(1))) != nil { fill() }
    }
  }

  /// Scrolls to the first element, where the focus then enters.
  public func rewind() {
    let rows = children
    for row in rows { row.forgetFocus() }
    guard let first = rows.first else { return }
    gtk_widget_set_focus_child(cast(), first.cast())
    // GTK's own action for a row that gets the focus, where the list then has its focus.
    gtk_widget_activate_action_variant(cast(), "list.scroll-to-item", g_variant_new_uint32(0))
  }

  /// Updates the visible elements.
  public func refresh() {
    for row in rows { present(row.value, in: row.key) }
  }

  private func replace(_ range: Range<Int>, with new: [String]) {
    isChanging = true
    strings.replace(range, with: new)
    isChanging = false
  }

  private func setUp(_ arguments: SignalArguments) -> Bool {
    guard let item = arguments.object(0) else { return false }
    let row = makeRow()
    rows[item] = row
    rowsInTurn += 1
    mostRowsAtOnce = max(mostRowsAtOnce, rowsInTurn)
    gtk_list_item_set_child(OpaquePointer(item), row.cast())
    gtk_list_item_set_activatable(OpaquePointer(item), selection == nil ? 0 : 1)
    return false
  }

  private func bind(_ arguments: SignalArguments) -> Bool {
    guard let item = arguments.object(0), let row = rows[item] else { return false }
    present(row, in: item)
    return false
  }

  private func present(_ row: Row, in item: UnsafeMutableRawPointer) {
    guard let string = gtk_list_item_get_item(OpaquePointer(item)) else { return }
    row.show(String(cString: gtk_string_object_get_string(OpaquePointer(string))))
    guard let place = gtk_widget_get_parent(row.cast()) else { return }
    Widget(retaining: place).setAccessibleName(row.accessibleName)
  }
}
