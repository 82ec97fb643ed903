import CGTK
import GTKSupport
import KeychainModel
import TokenCache

/// The caches that other programs keep in clear.
@MainActor
final class PlaintextPage {
  private let list: Widget
  private unowned let window: KeychainWindow
  private(set) var caches: [PlaintextCache] = []
  private var rows: [Widget] = []

  init(list: Widget, window: KeychainWindow) {
    self.list = list
    self.window = window
  }

  func show(_ caches: [PlaintextCache]) {
    guard caches != self.caches else { return }
    self.caches = caches
    for row in rows { gtk_list_box_remove(list.opaque, row.cast()) }
    rows = caches.map(row)
    for row in rows { gtk_list_box_append(list.opaque, row.cast()) }
  }

  private func row(_ cache: PlaintextCache) -> Widget {
    let row = Widget(taking: UnsafeMutableRawPointer(adw_action_row_new()))
    let count = cache.recordCount.map { "\($0) record\($0 == 1 ? "" : "s")" } ?? "cannot be read"
    // They are shown as markup.
    let lines = [count + " in " + cache.path] + cache.findings
    adw_preferences_row_set_title(row.cast(), escaped(cache.users))
    adw_action_row_set_subtitle(row.cast(), escaped(lines.joined(separator: "\n")))
    let button = Button("")
    button.setMnemonicLabel("_Adopt…")
    gtk_widget_set_valign(button.cast(), GTK_ALIGN_CENTER)
    button.isSensitive = cache.recordCount != nil
    button.onClick { [weak self] in self?.adopt(cache) }
    adw_action_row_add_suffix(row.cast(), button.cast())
    return row
  }

  private func adopt(_ cache: PlaintextCache) {
    Task {
      let fate = cache.isOnlyEmptied ? "emptied" : "removed"
      let body = [
        "The tokens in \(cache.path) move into the group \(window.group.name). When they have been read back from "
          + "there, the file is written over and \(fate).",
        cache.afterRemoval ?? "",
        "Copies in snapshots, in backups and on the bare disk may live on.",
      ].filter { !$0.isEmpty }.joined(separator: "\n\n")
      let answer = await Question.ask(
        "Adopt These Tokens?", body,
        answers: [.init("keep", "Import, _Keep the File"), .init("move", "_Move", .destructive)],
        over: window.widget)
      guard answer != Question.cancelled else { return }
      do throws(Trouble) {
        let adoption = try await window.keychain.adopt(cache, into: window.group, removing: answer == "move")
        let end = adoption.isRemoved ? "and \(fate) the file" : "and left the file as it is"
        window.tell("Imported \(adoption.saved) records \(end).")
      } catch {
        window.report(error)
      }
      window.reload()
    }
  }
}

/// A text as it stands in Pango's markup.
func escaped(_ text: String) -> String {
  guard let escaped = g_markup_escape_text(text, -1) else { return "" }
  defer { g_free(escaped) }
  return String(cString: escaped)
}
