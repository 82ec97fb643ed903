import Configuration
import FoundationEssentials
import GTKSupport
import KeychainModel
import Localization

/// One token of an account.
final class TokenRow: Row {
  private let builder = Builder(Interface.tokenRow)
  private unowned let page: TokenPage
  private lazy var details = ListBox(builder.widget("details"))
  private var shownDetails: [(name: String, value: String)] = []
  private var token: TokenEntry?

  init(page: TokenPage) {
    self.page = page
    super.init(retaining: builder.widget("row").raw)
    builder.widget("expander").connect("notify::expanded") { [weak self] in self?.showDetails() }
    button("renew") { page, token in page.renew(token) }
    button("cancel") { page, token in page.cancelRenewal(of: token) }
    button("reveal") { page, token in page.reveal(token) }
    button("copy") { page, token in page.copy(token) }
    button("remove") { page, token in page.remove(token) }
  }

  override func show(_ id: String) {
    guard let token = page.token(id) else { return }
    if token.id != self.token?.id { builder.widget("expander").set("expanded", false) }
    self.token = token
    let state = page.state(of: token)
    setText("title", token.title)
    setText("scopes", token.permissions.joined(separator: " "))
    setText("app", page.label(of: token) ?? "")
    let now = Date()
    let left = token.timeLeft(at: now)
    let bar = builder.widget("bar")
    bar.isVisible = left?.isExpired == false
    bar.set("fraction", left?.fraction ?? 0)
    bar.setStyle("low", (left?.fraction ?? 1) < 0.15)
    builder.widget("left").setStyle("warning", left?.isExpired == true)
    let status = state.isRenewing ? localized("Renewing…") : token.renewal(at: now)
    setText("left", [left?.text, status].compactMap(\.self).joined(separator: " · "))
    builder.widget("renew").isVisible = token.isRenewable && !state.isRenewing
    builder.widget("cancel").isVisible = state.isRenewing
    let reveal = builder.widget("reveal")
    let action = state.secret == nil ? localized("Reveal") : localized("Hide")
    reveal.set("icon-name", state.secret == nil ? "view-reveal-symbolic" : "view-conceal-symbolic")
    reveal.set("tooltip-text", action)
    reveal.setAccessibleName(action)
    setText("secret", state.secret ?? "")
    showDetails()
  }

  /// In a closed expander nothing is visible: Tab would move the focus there with GTK 4.8, and stay.
  private func showDetails() {
    let isOpen = builder.widget("expander").flag(of: "expanded")
    let expiry = token?.expiresOn.map { [(localized("Expires"), dateText($0.timeIntervalSince1970))] } ?? []
    let wanted = isOpen ? expiry + (token?.details ?? []) : []
    guard !wanted.elementsEqual(shownDetails, by: ==) else { return }
    shownDetails = wanted
    details.rows = wanted.map(detailRow)
  }

  private func detailRow(name: String, value: String) -> Widget {
    let builder = Builder(Interface.detailRow)
    builder.widget("name").set("label", name)
    builder.widget("value").set("label", value)
    let copy = builder.widget("copy")
    copy.setAccessibleName(localized("Copy %s", name))
    copy.connect("clicked") { [weak page] in page?.copy(value) }
    return builder.widget("row")
  }

  override var accessibleName: String {
    guard let token else { return "" }
    let left = token.timeLeft(at: Date())?.text
    return [token.title, token.permissions.joined(separator: " "), page.label(of: token), left].compactMap(
      \.self
    )
    .filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private func setText(_ id: String, _ text: String) {
    let label = builder.widget(id)
    label.set("label", text)
    label.isVisible = !text.isEmpty
  }

  private func button(_ id: String, _ action: @escaping @MainActor (TokenPage, TokenEntry) -> Void) {
    builder.widget(id).connect("clicked") { [weak self] in
      guard let self, let token else { return }
      action(page, token)
    }
  }
}
