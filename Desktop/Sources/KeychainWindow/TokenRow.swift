import Configuration
import FoundationEssentials
import GTKSupport
import KeychainModel

/// One token of an account.
final class TokenRow: Row {
  private let builder = Builder(Interface.tokenRow)
  private unowned let page: TokenPage
  private var token: TokenEntry?

  init(page: TokenPage) {
    self.page = page
    super.init(retaining: builder.widget("row").raw)
    mendMnemonicNames()
    button("renew") { page, token in page.renew(token) }
    button("cancel") { page, token in page.cancelRenewal(of: token) }
    button("reveal") { page, token in page.reveal(token) }
    button("copy") { page, token in page.copy(token) }
    button("remove") { page, token in page.remove(token) }
  }

  override func show(_ id: String) {
    guard let token = page.token(id) else { return }
    self.token = token
    let state = page.state(of: token)
    setText("kind", token.kind)
    setText(
      "scopes", token.scopes.joined(separator: token.scopes.contains { $0.contains("://") } ? "\n" : "  "))
    setText("place", Self.place(of: token))
    let now = Date()
    setText("renewal", token.renewal(at: now) ?? "")
    let left = token.timeLeft(at: now)
    builder.widget("time").isVisible = left != nil
    if let left {
      let bar = builder.widget("bar")
      bar.set("fraction", left.fraction)
      bar.setStyle("low", left.fraction < 0.15)
      setText("left", left.text)
    }
    builder.widget("renew").isVisible = token.isRenewable && !state.isRenewing
    builder.widget("cancel").isVisible = state.isRenewing
    builder.widget("reveal").setMnemonicLabel(state.secret == nil ? "Re_veal" : "Hi_de")
    setText("secret", state.secret ?? "")
    setText("note", state.isRenewing ? "Renewing…" : "")
  }

  override var accessibleName: String {
    guard let token else { return "" }
    let left = token.timeLeft(at: Date())?.text
    return [token.kind, token.scopes.joined(separator: " "), left].compactMap(\.self).filter { !$0.isEmpty }
      .joined(separator: ", ")
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

  private static func place(of token: TokenEntry) -> String {
    let parts = [
      ("Tenant", token.tenantID), ("Client", token.clientID), ("Family", token.familyID),
      ("Cloud", token.environment),
    ]
    return parts.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: "\n")
  }
}
