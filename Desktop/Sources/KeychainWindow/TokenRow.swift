import CGTK
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
    set("kind", token.kind)
    set("scopes", token.scopes.joined(separator: token.scopes.contains { $0.contains("://") } ? "\n" : "  "))
    set("place", Self.place(of: token))
    let now = Date()
    set("renewal", token.renewal(at: now) ?? "")
    let left = token.timeLeft(at: now)
    builder.widget("time").isVisible = left != nil
    if let left {
      let bar = builder.widget("bar")
      gtk_progress_bar_set_fraction(bar.opaque, left.fraction)
      if left.fraction < 0.15 { bar.addStyle("low") } else { gtk_widget_remove_css_class(bar.cast(), "low") }
      set("left", left.text)
    }
    builder.widget("renew").isVisible = token.isRenewable && !state.isRenewing
    builder.widget("cancel").isVisible = state.isRenewing
    builder.widget("reveal").setMnemonicLabel(state.secret == nil ? "Re_veal" : "Hi_de")
    set("secret", state.secret ?? "")
    set("note", state.isRenewing ? "Renewing…" : "")
  }

  override var accessibleName: String {
    guard let token else { return "" }
    let left = token.timeLeft(at: Date())?.text
    return [token.kind, token.scopes.joined(separator: " "), left].compactMap(\.self).filter { !$0.isEmpty }
      .joined(separator: ", ")
  }

  private func set(_ id: String, _ text: String) {
    let label = builder.widget(id)
    label.setText(text)
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

extension Widget {
  /// Shows a page of a stack. Screen readers would find the others if they were not hidden.
  func showPage(_ name: String) {
    guard let wanted = gtk_stack_get_child_by_name(opaque, name) else { return }
    gtk_widget_set_visible(wanted, 1)
    gtk_stack_set_visible_child(opaque, wanted)
    var child = gtk_widget_get_first_child(cast())
    while let page = child {
      if page != wanted { gtk_widget_set_visible(page, 0) }
      child = gtk_widget_get_next_sibling(page)
    }
  }

  /// Sets the text of a label, if it is another.
  func setText(_ text: String) {
    if String(cString: gtk_label_get_text(opaque)) != text { gtk_label_set_text(opaque, text) }
  }
}
