import FoundationEssentials
import GTKSupport
import KeychainModel

/// One account in the list on the left.
final class AccountRow: Row {
  private let title: Widget
  private let subtitle: Widget
  private let mark: Widget
  private var account: AccountEntry?
  private let entry: @MainActor (String) -> AccountEntry?

  init(entry: @escaping @MainActor (String) -> AccountEntry?) {
    self.entry = entry
    let builder = Builder(Interface.accountRow)
    title = builder.widget("title")
    subtitle = builder.widget("subtitle")
    mark = builder.widget("mark")
    super.init(retaining: builder.widget("row").raw)
  }

  override var accessibleName: String { account.map { "\($0.title), \(Self.subtitle(of: $0))" } ?? "" }

  override func show(_ id: String) {
    guard let account = entry(id) else { return }
    self.account = account
    title.set("label", account.title)
    subtitle.set("label", Self.subtitle(of: account))
    mark.isVisible = account.requiredSignIn(at: Date()) != nil
  }

  private static func subtitle(of account: AccountEntry) -> String {
    (account.requiredSignIn(at: Date()) == nil ? "" : "Needs a sign-in · ")
      + account.subtitle + (account.tokens.isEmpty ? " · no tokens" : "")
  }
}
