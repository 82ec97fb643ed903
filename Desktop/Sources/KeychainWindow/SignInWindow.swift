import Configuration
import FoundationEssentials
import GTKSupport
import KeychainModel
import Localization
import TokenCache

/// Signs an account in, in the browser or with a code.
@MainActor
final class SignInWindow {
  private let builder = Builder(Interface.signIn)
  private let window: Window
  private unowned let parent: KeychainWindow
  private let request: SignInRequest
  private let group: KeychainGroup
  /// Whether the person has to name the app.
  private let asksForClient: Bool
  private var signIn: Task<Void, Never>?
  /// What the copy button copies: a page's address, or a code.
  private var copied = ""

  /// Shows the window.
  ///
  /// - Parameters:
  ///   - request: What to ask for.
  ///   - parent: The window whose group gets the tokens.
  ///   - closed: Called when it was closed.
  init(_ request: SignInRequest, over parent: KeychainWindow, closed: @escaping @MainActor () -> Void) {
    (self.request, self.parent, group) = (request, parent, parent.group)
    let keychain = parent.keychain
    asksForClient = request.clientID == nil && keychain.clientID == nil
    window = Window(builder, "sign-in", over: parent.widget)
    setText("heading", request.accountName.map { localized("Sign In %s", $0) } ?? localized("Add an Account"))
    setText(
      "about",
      request.app.map { localized("%s gets new tokens. They are stored in the group %s.", $0, group.name) }
        ?? localized("The tokens are stored in the group %s.", group.name))
    setMarkup(
      "client-help",
      localized(
        "Register an app in the %s, with the redirect URI http://localhost for desktop applications. Llavero’s article "
          + "“Getting started” has the steps.",
        Self.link("https://entra.microsoft.com", localized("Microsoft Entra admin center"))))
    builder.widget("client-form").isVisible = asksForClient
    builder.widget("client").set("text", parent.listing?.ownClientID ?? "")
    builder.widget("tenant").set("text", keychain.tenant ?? "")
    builder.widget("code").isVisible = keychain.supportsDeviceCodes
    connect("browser", localized("Use the _Browser")) { $0.begin(.browser) }
    connect("code", localized("Use a _Device Code")) { $0.begin(.deviceCode) }
    connect("copy") { $0.copy() }
    connect("cancel", localized("_Cancel")) { $0.cancel() }
    window.onEscape { [weak self] in self?.leave() }
    window.onCloseRequest { [weak self] in
      self?.signIn?.cancel()
      closed()
      return true
    }
    showChoice()
    window.present()
  }

  /// Closes it, which ends a sign-in.
  func close() { window.close() }

  private func begin(_ method: SignInMethod) {
    var request = request
    if asksForClient {
      request.clientID = builder.widget("client").text(of: "text")
      request.tenant = builder.widget("tenant").text(of: "text")
    }
    showStep(localized("Preparing the sign-in…"))
    let (keychain, group) = (parent.keychain, group)
    let show: @Sendable (SignInStep) async -> Void = { [weak self] in await self?.show($0) }
    signIn = parent.finishing { [parent, weak self] in
      do throws(Trouble) {
        let account = try await keychain.signIn(request, by: method, into: group, showing: show)
        parent.announce(localized("Signed in as %s.", account.name))
        parent.reload(showing: account.id)
        self?.window.close()
      } catch {
        // Its own Cancel, or another sign-in that began since.
        if !Task.isCancelled { self?.showChoice(error.isCancellation ? nil : error) }
      }
    }
  }

  private func cancel() {
    signIn?.cancel()
    signIn = nil
    showChoice()
  }

  private func leave() {
    if signIn == nil { window.close() } else { cancel() }
  }

  private func copy() {
    parent.clipboard.copy(copied)
    builder.widget("copy").setMnemonicLabel(localized("Copied"))
  }

  private func showChoice(_ trouble: Trouble? = nil) {
    signIn = nil
    setText("error", trouble.map { "\($0.title). \($0)" } ?? "")
    showPage("choice")
    let first = builder.widget(asksForClient ? "client" : "browser")
    first.setAccessibleDescription(trouble.map { "\($0.title). \($0)" } ?? "")
    first.focus()
  }

  private func show(_ step: SignInStep) {
    // It was cancelled meanwhile.
    guard signIn?.isCancelled == false else { return }
    switch step {
    case .page(let address):
      showStep(
        localized(
          "Sign in in the browser that opens. If none does, copy the address of the page, and open it yourself."
        ),
        copying: address.absoluteString, as: localized("Copy the _Address"))
    case .code(let code, let page, let end):
      showStep(
        localized(
          "Open this page on any device, and enter the code. It is valid until %s.",
          dateText(end.timeIntervalSince1970)), copying: code, as: localized("C_opy the Code"))
      setMarkup("page", Self.link(page.absoluteString, printable(page.absoluteString)))
      setText("user-code", code)
    }
  }

  private func showStep(_ text: String, copying copied: String = "", as label: String = "") {
    setText("step", text)
    for id in ["page", "user-code"] { setText(id, "") }
    self.copied = copied
    let copy = builder.widget("copy")
    copy.isVisible = !copied.isEmpty
    copy.setMnemonicLabel(label)
    showPage("progress")
    // Screen readers read the text with the button that has the focus.
    let first = copied.isEmpty ? builder.widget("cancel") : copy
    first.setAccessibleDescription(text)
    first.focus()
  }

  private func showPage(_ id: String) {
    for page in ["choice", "progress"] { builder.widget(page).isVisible = page == id }
  }

  private func setText(_ id: String, _ text: String) {
    builder.widget(id).set("label", text)
    builder.widget(id).isVisible = !text.isEmpty
  }

  private func setMarkup(_ id: String, _ text: String) {
    builder.widget(id).set("use-markup", true)
    setText(id, text)
  }

  private static func link(_ address: String, _ text: String) -> String {
    "<a href=\"\(markup(address))\">\(markup(text))</a>"
  }

  private func connect(
    _ id: String, _ label: String = "", _ action: @escaping @MainActor (SignInWindow) -> Void
  ) {
    builder.widget(id).setMnemonicLabel(label)
    builder.widget(id).connect("clicked") { [weak self] in self.map(action) }
  }
}
