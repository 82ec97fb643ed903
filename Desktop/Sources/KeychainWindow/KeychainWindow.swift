public import GTKSupport
public import KeychainModel
import TokenCache

/// The window: groups and accounts on the left, the tokens of one account on the right.
@MainActor
public final class KeychainWindow {
  let keychain: Keychain
  let widget: Window
  private(set) var group: KeychainGroup

  /// The accounts on the left.
  package private(set) lazy var accounts = RowList(isSelectable: true) { [unowned self] in
    AccountRow { [unowned self] in entries[$0] }
  }

  private let builder: Builder
  private let clipboard: Clipboard
  private let groupChoice: DropDown
  private lazy var tokens = TokenPage(window: self, clipboard: clipboard)
  private lazy var plaintext = PlaintextPage(list: builder.widget("plaintext-list"), window: self)

  private var groups: [KeychainGroup] = []
  private var listing: GroupListing?
  private var entries: [String: AccountEntry] = [:]
  /// Why the group cannot be shown.
  private var obstacle: Trouble?
  /// The error of the user's last action.
  private var actionError: Trouble?
  private var isPlaintextShown = false

  private var loading: Task<Void, Never>?
  private var isStale = false
  private var watch: Task<Void, Never>?
  private var clock: Task<Void, Never>?
  private var signals: BusSignals?

  /// The window that was shown last.
  private(set) static weak var shown: KeychainWindow?

  /// - Parameters:
  ///   - application: Runs while the window is open.
  ///   - keychain: The keychain to show.
  public init(_ application: Application, keychain: Keychain) {
    self.keychain = keychain
    group = keychain.group
    builder = Builder(Interface.window)
    widget = Window(application, builder, "window")
    clipboard = Clipboard(of: widget)
    groupChoice = DropDown(builder.widget("groups"))
    widget.loadStyle(Interface.style)
    builder.widget("accounts-scroll").set("child", accounts)
    accounts.addStyle("navigation-sidebar")
    accounts.setAccessibleName("Accounts")
    builder.widget("tokens").set("child", tokens.list)
    builder.widget("store").set("subtitle", keychain.storeName)
    connect()
    addActions(to: application)
    show()
  }

  /// Shows the window, or brings it to the front, and reads everything.
  public func present() {
    widget.present()
    Self.shown = self
    reload()
    guard signals == nil else { return }
    signals = BusSignals(of: ["org.freedesktop.Secret.Collection", "org.freedesktop.Secret.Service"]) {
      [weak self] in self?.reload()
    }
    clock = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil { self?.tokens.list.refresh() }
    }
  }

  /// Reads everything again, off this thread.
  func reload() {
    guard loading == nil else {
      isStale = true
      return
    }
    isStale = false
    loading = Task { [weak self] in
      await self?.load()
      self?.loading = nil
      if self?.isStale == true { self?.reload() }
    }
  }

  /// Filters the list, as if the user had typed the text.
  package func search(_ text: String) {
    builder.widget("search").set("text", text)
  }

  /// Shows an account, as if the user had chosen it.
  package func select(_ id: String) {
    accounts.selected = id
    showContent()
  }

  /// Shows a message of success for a moment.
  func announce(_ text: String) {
    builder.widget("toasts").showToast(text)
  }

  /// Shows an error until the next action.
  func report(_ trouble: Trouble) {
    actionError = trouble
    showTroubleBar()
  }

  private func load() async {
    let group = group
    do throws(Trouble) {
      groups = try await keychain.groups()
      let listing = try await keychain.listing(of: group)
      guard group == self.group else { return isStale = true }
      if listing != self.listing {
        self.listing = listing
        entries = Dictionary(listing.accounts.map { ($0.id, $0) }) { first, _ in first }
      }
      obstacle = nil
    } catch {
      obstacle = error
      listing = nil
      entries = [:]
    }
    plaintext.show(await keychain.plaintextCaches())
    show()
    follow(group)
  }

  /// Reads again whenever the group has changed; more often while nothing can be shown.
  private func follow(_ group: KeychainGroup) {
    watch?.cancel()
    let changes = keychain.changes(of: group, limit: obstacle == nil ? 60 : 5)
    watch = Task { [weak self] in
      for await _ in changes {
        self?.reload()
        return
      }
    }
  }
}

// What the window shows.
extension KeychainWindow {
  private var selectedAccount: AccountEntry? { accounts.selected.flatMap { entries[$0] } }

  private func show() {
    showGroups()
    let text = builder.widget("search").text(of: "text")
    let found = listing?.accounts(matching: text) ?? []
    accounts.show(found.map(\.id))
    if accounts.selected == nil, !isPlaintextShown { accounts.selected = found.first?.id }
    let nothing =
      listing == nil ? "" : text.isEmpty ? "No accounts in this group." : "No matches for “\(text)”."
    builder.widget("no-accounts").set("label", nothing)
    Stack(builder.widget("accounts")).show(found.isEmpty ? "none" : "list")
    let count = plaintext.caches.count
    let button = builder.widget("plaintext-button")
    button.isVisible = count > 0
    button.setMnemonicLabel("_Plaintext Tokens (\(count))")
    if count == 0 { isPlaintextShown = false }
    showContent()
  }

  private func showGroups() {
    groupChoice.items = (groups.isEmpty ? [group] : groups).map(\.name)
    groupChoice.selected = group.name
  }

  private func showContent() {
    let account = isPlaintextShown || obstacle != nil ? nil : selectedAccount
    tokens.show(account)
    let title = builder.widget("title")
    title.set("title", isPlaintextShown ? "Plaintext Tokens" : account?.title ?? "")
    title.set("subtitle", account?.subtitle ?? "")
    builder.widget("account-buttons").isVisible = account?.canBeRemoved ?? false
    builder.widget("sign-out").isSensitive = !(account?.clientIDs.isEmpty ?? true)
    let page =
      isPlaintextShown ? "plaintext" : account.map { !$0.tokens.isEmpty } ?? false ? "account" : "status"
    Stack(builder.widget("pages")).show(page)
    showStatus(account)
    showTroubleBar()
  }

  private func showStatus(_ account: AccountEntry?) {
    let (icon, title, text): (String, String, String)
    var help: Trouble.Help?
    if let obstacle {
      icon = obstacle.help == .unlock ? "changes-prevent-symbolic" : "dialog-warning-symbolic"
      (title, text, help) = (obstacle.title, obstacle.description, obstacle.help)
    } else if listing == nil {
      (icon, title, text) = ("content-loading-symbolic", "Reading…", "")
    } else if account != nil {
      (icon, title, text) = (
        "avatar-default-symbolic", "No Tokens", "The account is signed out of all apps."
      )
    } else if listing?.accounts.isEmpty == true {
      (icon, title, text) = (
        "system-users-symbolic", "No Accounts",
        "No account is signed in to the group \(group.name). Sign in with an app that uses it, or with “llavero login”."
      )
    } else {
      (icon, title, text) = ("system-users-symbolic", "No Account Selected", "")
    }
    let status = builder.widget("status")
    status.set("icon-name", icon)
    status.set("title", markup(title))
    status.set("description", markup(text))
    showHelp(help, on: builder.widget("status-button"))
  }

  /// The problem in the bar over the content. A problem that prevents reading the group has its own page.
  private var barTrouble: Trouble? {
    actionError ?? (obstacle == nil ? listing?.troubles.first : isPlaintextShown ? obstacle : nil)
  }

  private func showTroubleBar() {
    let trouble = barTrouble
    let more = actionError == nil ? (listing?.troubles.count ?? 0) - 1 : 0
    if let trouble {
      let rest = more > 0 ? " And \(more) more." : ""
      builder.widget("trouble-text").set("label", "\(trouble.title). \(trouble)\(rest)")
    }
    showHelp(trouble?.help, on: builder.widget("trouble-button"))
    builder.widget("trouble-close").isVisible = actionError != nil
    builder.widget("trouble-bar").isVisible = trouble != nil
  }

  private func showHelp(_ help: Trouble.Help?, on button: Widget) {
    button.isVisible = help != nil
    let label: String? =
      switch help {
      case .unlock: "_Unlock"
      case .doctor: "_Check Setup"
      case .removeDamaged: "Remove Unreadable _Entries…"
      case nil: nil
      }
    if let label { button.setMnemonicLabel(label) }
  }
}

// What the user does.
extension KeychainWindow {
  private func connect() {
    accounts.onSelect { [weak self] in
      self?.isPlaintextShown = false
      self?.showContent()
    }
    accounts.connect("activate") { [weak self] in self?.goForward() }
    builder.widget("search").connect("search-changed") { [weak self] in self?.show() }
    groupChoice.onSelect { [weak self] in self?.changeGroup() }
    builder.widget("back").connect("clicked") { [weak self] in self?.goBack() }
    builder.widget("sign-out").connect("clicked") { [weak self] in self?.signOut() }
    builder.widget("remove").connect("clicked") { [weak self] in self?.removeAccount() }
    builder.widget("plaintext-button").connect("clicked") { [weak self] in
      self?.isPlaintextShown = true
      // A click on the account then shows it again.
      self?.accounts.selected = nil
      self?.showContent()
      self?.goForward()
    }
    builder.widget("status-button").connect("clicked") { [weak self] in self?.help(self?.obstacle?.help) }
    builder.widget("trouble-button").connect("clicked") { [weak self] in
      self?.help(self?.barTrouble?.help)
    }
    builder.widget("trouble-close").connect("clicked") { [weak self] in
      self?.actionError = nil
      self?.showTroubleBar()
    }
    widget.connect("close-request") { [weak self] _ in
      self?.end()
      return false
    }
  }

  private func addActions(to application: Application) {
    let actions: [(name: String, keys: [String], run: @MainActor (KeychainWindow) -> Void)] = [
      ("refresh", ["F5", "<Control>r"], { $0.reload() }),
      (
        "search", ["<Control>f"],
        { $0.builder.widget("search-bar").set("search-mode-enabled", true) }
      ),
      ("sign-out", ["<Control>o"], { $0.signOut() }),
      ("remove", ["<Control>Delete"], { $0.removeAccount() }),
      ("back", ["<Alt>Left"], { $0.goBack() }),
      ("doctor", [], { $0.checkSetup() }),
      ("about", [], { $0.showAbout() }),
      ("quit", ["<Control>q", "<Control>w"], { $0.widget.close() }),
    ]
    for action in actions {
      widget.addAction(action.name) { [weak self] in self.map(action.run) }
      if !action.keys.isEmpty { application.setShortcuts(action.keys, for: "win." + action.name) }
    }
    widget.setShortcutsWindow(Builder(Interface.shortcuts), "shortcuts")
  }

  /// Leaves no token behind, on the screen or in the clipboard.
  private func end() {
    tokens.hideAll()
    clipboard.clear()
    for task in [watch, clock, loading] { task?.cancel() }
    signals = nil
  }

  private func goForward() { builder.widget("leaflet").set("visible-child", builder.widget("content")) }

  private func goBack() { builder.widget("leaflet").set("visible-child", builder.widget("sidebar")) }

  private func changeGroup() {
    guard let chosen = groups.first(where: { $0.name == groupChoice.selected }), chosen != group else {
      return
    }
    group = chosen
    (listing, entries, actionError) = (nil, [:], nil)
    show()
    reload()
  }

  private func signOut() {
    guard let account = selectedAccount, !account.clientIDs.isEmpty else { return }
    Task {
      let clients = account.clientIDs
      let apps = clients.count == 1 ? "the application \(clients[0])" : "\(clients.count) applications"
      let response = await MessageDialog.show(
        "Sign \(account.title) Out?",
        "The tokens of \(apps) for this account are removed from the group \(group.name), and the account is signed out "
          + "there. The account stays in the list. You stay signed in in the browser, and tokens that apps already use "
          + "stay valid.",
        responses: [.init("sign-out", "Sign _Out", .destructive)], over: widget)
      guard response == "sign-out" else { return }
      await run("Signed out \(account.title).") { keychain, group throws(Trouble) in
        try await keychain.signOut(account, of: clients, in: group)
      }
    }
  }

  private func removeAccount() {
    guard let account = selectedAccount, account.canBeRemoved else { return }
    Task {
      let count = account.tokens.count
      let response = await MessageDialog.show(
        "Remove \(account.title)?",
        "The account and its \(count) token\(count == 1 ? "" : "s") are removed from the group \(group.name) for all "
          + "apps that share it. Each of them has to sign in again. The server does not revoke the tokens.",
        responses: [.init("remove", "_Remove", .destructive)], over: widget)
      guard response == "remove" else { return }
      await run("Removed \(account.title).") { keychain, group throws(Trouble) in
        try await keychain.remove(account, in: group)
      }
    }
  }

  private func help(_ help: Trouble.Help?) {
    switch help {
    case .unlock: unlock()
    case .doctor: checkSetup()
    case .removeDamaged: removeDamaged()
    case nil: break
    }
  }

  private func unlock() {
    let button = builder.widget("status-button")
    button.isSensitive = false
    Task {
      await run(nil) { keychain, _ throws(Trouble) in try await keychain.unlock() }
      button.isSensitive = true
    }
  }

  private func removeDamaged() {
    guard let troubles = listing?.troubles.filter({ $0.help == .removeDamaged }), !troubles.isEmpty else {
      return
    }
    Task {
      let response = await MessageDialog.show(
        "Remove Unreadable Entries?",
        (troubles.prefix(5).map(\.message) + ["This cannot be undone. Readable entries are kept."]).joined(
          separator: "\n\n"),
        responses: [.init("remove", "_Remove", .destructive)], over: widget)
      guard response == "remove" else { return }
      await run("Removed unreadable entries.") { keychain, group throws(Trouble) in
        try await keychain.removeDamaged(in: group)
      }
    }
  }

  private func checkSetup() {
    Task {
      do throws(Trouble) {
        let findings = try await Doctor.findings().filter { !["ok", "mended"].contains($0.state) }
        let lines = findings.map { [$0.message, $0.advice].compactMap(\.self).joined(separator: "\n") }
        _ = await MessageDialog.show(
          findings.isEmpty ? "No Problems Found" : "Results",
          lines.isEmpty ? "“llavero doctor” found no problems." : lines.joined(separator: "\n\n"),
          responses: [],
          over: widget, dismissal: "_Close")
      } catch {
        report(error)
      }
    }
  }

  private func run(
    _ success: String?, _ body: @MainActor (Keychain, KeychainGroup) async throws(Trouble) -> Void
  ) async {
    actionError = nil
    do throws(Trouble) {
      try await body(keychain, group)
      if let success { announce(success) }
    } catch {
      report(error)
    }
    showTroubleBar()
    reload()
  }

  private func showAbout() { widget.present(Builder(Interface.about), "about") }
}
