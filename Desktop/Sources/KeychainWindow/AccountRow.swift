import FoundationEssentials
import GTKSupport
import KeychainModel
import Localization

/// One account in the list on the left.
final class AccountRow: Row {
  private let title: Widget
  private let subtitle: Widget
  private let mark: Widget
  private var name = ""
  private let entry: @MainActor (String) -> AccountEntry?

  init(entry: @escaping @MainActor (String) -> AccountEntry?) {
    self.entry = entry
    let builder = Builder(Interface.accountRow)
    title = builder.widget("title")
    subtitle = builder.widget("subtitle")
    mark = builder.widget("mark")
    super.init(retaining: builder.widget("row").raw)
  }

  override var accessibleName: String { name }

  override func show(_ id: String) {
    guard let account = entry(id) else { return }
    let needsSignIn = account.needsSignIn(at: Date())
    let parts = [
      needsSignIn ? localized("Needs a sign-in") : nil, account.subtitle,
      account.tokens.isEmpty ? localized("no tokens") : nil,
    ]
    let text = parts.compactMap(\.self).joined(separator: " · ")
    name = "\(account.title), \(text)"
    title.set("label", account.title)
    subtitle.set("label", text)
    mark.isVisible = needsSignIn
  }
}
