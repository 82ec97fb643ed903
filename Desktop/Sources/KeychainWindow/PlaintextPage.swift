import GTKSupport
import KeychainModel
import Localization
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
      localized(
        "Other programs keep these tokens in files that all your programs can read. Moving imports them into the "
          + "group that is shown, and removes the file. Each entry describes what its programs do afterwards."
      ))
  }

  func show(_ caches: [PlaintextCache]) {
    guard caches != self.caches else { return }
    self.caches = caches
    list.rows = caches.map(row)
  }

  private func row(_ cache: PlaintextCache) -> Widget {
    let builder = Builder(Interface.plaintextRow)
    let contents =
      cache.recordCount.map {
        localized("%s: %d record.", "%s: %d records.", count: $0, cache.path, $0)
      } ?? localized("%s: cannot be read.", cache.path)
    let lines = [contents] + cache.findings + [cache.afterRemoval].compactMap(\.self)
    builder.widget("users").set("label", cache.users)
    builder.widget("about").set("label", lines.joined(separator: "\n"))
    let button = builder.widget("adopt")
    button.setMnemonicLabel(
      window.keychain.isKeyring ? localized("_Move to Keyring…") : localized("_Move to Store…"))
    button.isSensitive = cache.recordCount != nil
    button.connect("clicked") { [weak self] in self?.adopt(cache) }
    return builder.widget("row")
  }

  /// Asks whether to import or to move a cache, and does so.
  func adopt(_ cache: PlaintextCache) {
    Task {
      let (group, path) = (window.group.name, cache.path)
      let body =
        cache.isOnlyEmptied
        ? localized(
          "Moving imports the tokens into the group %s. %s is then overwritten and emptied; copies of it in backups "
            + "may remain.", group, path)
        : localized(
          "Moving imports the tokens into the group %s. %s is then overwritten and removed; copies of it in backups "
            + "may remain.", group, path)
      let response = await MessageDialog.show(
        window.keychain.isKeyring
          ? localized("Move These Tokens to the Keyring?") : localized("Move These Tokens to the Store?"),
        body,
        responses: [
          .init("keep", localized("Import and _Keep the File")),
          .init("move", localized("_Move"), .destructive),
        ],
        over: window.widget)
      guard response != MessageDialog.cancelled else { return }
      window.finishing(asking: true) { [window] in
        do throws(Trouble) {
          let adoption = try await window.keychain.adopt(
            cache, into: window.group, removing: response == "move")
          let count = adoption.saved
          if !adoption.isRemoved {
            window.announce(
              localized(
                "Imported %d record and kept the file.", "Imported %d records and kept the file.",
                count: count, count))
          } else if cache.isOnlyEmptied {
            window.announce(
              localized(
                "Imported %d record and emptied the file.", "Imported %d records and emptied the file.",
                count: count, count))
          } else {
            window.announce(
              localized(
                "Imported %d record and removed the file.", "Imported %d records and removed the file.",
                count: count, count))
          }
        } catch {
          window.report(error)
        }
        window.reload()
      }
    }
  }
}
