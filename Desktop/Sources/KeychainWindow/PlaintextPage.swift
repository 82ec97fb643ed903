import GTKSupport
import KeychainModel
import TokenCache

/// The plaintext caches of other programs.
@MainActor
final class PlaintextPage {
  private let list: ListBox
  private unowned let window: KeychainWindow
  private(set) var caches: [PlaintextCache] = []

  init(group: Widget, list: Widget, window: KeychainWindow) {
    self.list = ListBox(list)
    self.window = window
    group.set(
      "description",
      "Other programs keep these tokens in files that all your programs can read. Moving imports them into a group of "
        + "the \(window.keychain.storePlace.lowercased()), and removes the file. Each entry describes what its programs do afterwards."
    )
  }

  func show(_ caches: [PlaintextCache]) {
    guard caches != self.caches else { return }
    self.caches = caches
    list.rows = caches.map(row)
  }

  private func row(_ cache: PlaintextCache) -> Widget {
    let builder = Builder(Interface.plaintextRow)
    let count = cache.recordCount.map { "\($0) record\($0 == 1 ? "" : "s")" } ?? "cannot be read"
    let lines = ["\(cache.path): \(count)."] + cache.findings + [cache.afterRemoval].compactMap(\.self)
    builder.widget("users").set("label", cache.users)
    builder.widget("about").set("label", lines.joined(separator: "\n"))
    let button = builder.widget("adopt")
    button.setMnemonicLabel("_Move to \(window.keychain.storePlace)…")
    button.isSensitive = cache.recordCount != nil
    button.connect("clicked") { [weak self] in self?.adopt(cache) }
    return builder.widget("row")
  }

  private func adopt(_ cache: PlaintextCache) {
    Task {
      let outcome = cache.isOnlyEmptied ? "emptied" : "removed"
      let body =
        "Moving imports the tokens into the group \(window.group.name). \(cache.path) is then overwritten and \(outcome); "
        + "copies of it in backups may remain."
      let response = await MessageDialog.show(
        "Move These Tokens to the \(window.keychain.storePlace)?", body,
        responses: [.init("keep", "Import and _Keep the File"), .init("move", "_Move", .destructive)],
        over: window.widget)
      guard response != MessageDialog.cancelled else { return }
      window.finishing(asking: true) { [window] in
        do throws(Trouble) {
          let adoption = try await window.keychain.adopt(
            cache, into: window.group, removing: response == "move")
          let end = adoption.isRemoved ? "and \(outcome) the file" : "and kept the file"
          window.announce("Imported \(adoption.saved) records \(end).")
        } catch {
          window.report(error)
        }
        window.reload()
      }
    }
  }
}
