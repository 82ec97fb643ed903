import Configuration
import FoundationEssentials
public import GTKSupport
public import KeychainModel
import Localization
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
  private let bannerBuilder = Builder(Interface.banners)
  let clipboard: Clipboard
  private let groupChoice: DropDown
  private let filterChoice: DropDown
  /// Shows other groups, which have accounts.
  private lazy var statusGroups = ButtonColumn(builder.widget("status-groups")) { [weak self] in
    self?.changeGroup(to: $0)
  }
  private lazy var tokens = TokenPage(window: self, clipboard: clipboard)
  private lazy var plaintext = PlaintextPage(
    group: builder.widget("plaintext"), list: builder.widget("plaintext-list"), window: self)

  private var groups: [KeychainGroup] = []
  private(set) var listing: GroupListing?
  /// The accounts, or the apps.
  private var listed: [AccountEntry] = []
  private var entries: [String: AccountEntry] = [:]
  /// Why the group cannot be shown.
  private var obstacle: Trouble?
  /// Why it has no accounts.
  private var emptyGroup: EmptyGroup?
  /// The error of the user's last action.
  private var actionError: Trouble?
  /// Whether nothing was read since.
  private var isErrorNew = false
  private var toast: GTKObject?
  /// How many reads and actions are under way.
  private var running = 0
  private var isPlaintextShown = false
  private var signInWindow: SignInWindow?
  /// The account to show as soon as it was read.
  private var wanted: String?

  /// What ends before the program does, in the order in which it began.
  private var unfinished: [Task<Void, Never>] = []
  /// Of how many of these the keyring may ask the person.
  private var questions = 0
  /// Closes the hidden window after that.
  private var ending: Task<Void, Never>?
  private var unlocking: Task<Void, Never>?
  private var loading: Task<Void, Never>?
  private var isStale = false
  private var watch: Task<Void, Never>?
  private var clock: Task<Void, Never>?
  private var spinning: Task<Void, Never>?
  private var signals: BusSignals?

  /// What the next start shows again; `nil` where nothing is kept.
  private var state: WindowState?

  /// The window that was shown last.
  private(set) static weak var shown: KeychainWindow?

  /// - Parameters:
  ///   - application: Runs while the window is open.
  ///   - keychain: The keychain to show.
  ///   - state: The state of the last window, which this one keeps on; `nil` to keep none.
  public init(_ application: Application, keychain: Keychain, state: WindowState? = nil) {
    self.keychain = keychain
    self.state = state
    group = keychain.group
    builder = Builder(Interface.window)
    widget = Window(application, builder, "window")
    clipboard = Clipboard(of: widget)
    groupChoice = DropDown(builder.widget("groups"), name: localized("Group"))
    filterChoice = DropDown(builder.widget("filter"), name: localized("Show"))
    filterChoice.items = Search.Filter.allCases.map(Self.label)
    filterChoice.selected = Self.label(of: .all)
    if let width = state?.width, let height = state?.height { widget.size = (width, height) }
    if state?.isMaximized == true { widget.isMaximized = true }
    widget.loadStyle(Interface.style)
    builder.widget("accounts-scroll").set("child", accounts)
    accounts.addStyle("navigation-sidebar")
    accounts.setAccessibleName(localized("Accounts"))
    builder.widget("tokens").set("child", tokens.list)
    builder.widget("store").set("subtitle", keychain.storeName)
    bannerBuilder.widget("banners").mendMnemonicNames()
    connect()
    addActions(to: application)
    show()
  }

  /// Shows the window, or brings it to the front, and reads everything.
  public func present() {
    ending?.cancel()
    widget.present()
    Self.shown = self
    reload()
    guard signals == nil else { return }
    signals = BusSignals(
      of: ["org.freedesktop.Secret.Collection", "org.freedesktop.Secret.Service"],
      orOwnersOf: "org.freedesktop.secrets"
    ) { [weak self] in self?.reload() }
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
      self?.beginRunning()
      await self?.load()
      self?.endRunning()
      self?.loading = nil
      if self?.isStale == true { self?.reload() }
    }
  }

  /// Reads everything again, and shows an account of it.
  func reload(showing id: String) {
    wanted = id
    reload()
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

  /// Closes the window, as its button does.
  package func close() { widget.close() }

  /// Shows a message of success for a moment.
  func announce(_ text: String) {
    toast = builder.widget("toasts").showToast(text, insteadOf: toast)
  }

  /// Begins an action: the error of the one before is no longer shown.
  func begin() {
    actionError = nil
    showBanners()
  }

  /// Begins an action that ends before the program does: what the person asked for is done, and a server, or another
  /// program's file, may be half way.
  @discardableResult
  func finishing(
    asking mayAsk: Bool = false, _ action: @escaping @MainActor () async -> Void
  ) -> Task<Void, Never> {
    begin()
    if mayAsk { questions += 1 }
    let task = Task {
      await action()
      if mayAsk { questions -= 1 }
    }
    unfinished.append(task)
    return task
  }

  /// Shows an error until the next action. What the person has cancelled is none.
  func report(_ trouble: Trouble) {
    guard !trouble.isCancellation else { return }
    (actionError, isErrorNew) = (trouble, true)
    showBanners()
    // GTK 4.8 tells screen readers of no other change. A search that is being typed goes on.
    if !widget.isTextFocused { bannerBuilder.widget("trouble-button").focus() }
  }

  /// Begins something that a spinner shows when it takes longer than a second.
  private func beginRunning() {
    running += 1
    guard running == 1 else { return }
    spinning = Task { [weak self] in
      if (try? await Task.sleep(for: .seconds(1))) != nil { self?.showSpinners(true) }
    }
  }

  private func endRunning() {
    running -= 1
    guard running == 0 else { return }
    spinning?.cancel()
    showSpinners(false)
  }

  private func showSpinners(_ isShown: Bool) {
    for id in ["sidebar-spinner", "content-spinner"] {
      builder.widget(id).set("spinning", isShown)
      builder.widget(id).isVisible = isShown
    }
  }

  private func load() async {
    let group = group
    // Both at once: a store that does not answer is reported after one time limit.
    async let all = keychain.read(group)
    if let page = await keychain.firstPage(of: group), group == self.group {
      take(page)
      show()
    }
    let reading = await all
    guard group == self.group else { return isStale = true }
    groups = reading.groups ?? groups
    switch reading.listing {
    case .success(let listing):
      take(listing)
      // The reading that an action itself causes may succeed where the action did not.
      if actionError?.isOfStore == true, obstacle != nil || !isErrorNew { actionError = nil }
      isErrorNew = false
      (obstacle, emptyGroup) = (nil, reading.emptyGroup)
    case .failure(let trouble):
      obstacle = trouble
      (listing, listed, entries, emptyGroup) = (nil, [], [:], nil)
    }
    plaintext.show(reading.plaintextCaches)
    show()
    // One that is not in the list now would be selected when it comes, perhaps much later.
    if !isStale { wanted = nil }
    follow(group, since: reading.generation)
  }

  private func take(_ listing: GroupListing) {
    guard listing != self.listing else { return }
    self.listing = listing
    list()
  }

  /// Makes the list of accounts, or of apps.
  private func list() {
    let isByApp = builder.widget("by-app").flag(of: "active")
    accounts.setAccessibleName(isByApp ? localized("Apps") : localized("Accounts"))
    listed = (isByApp ? listing?.apps : listing?.accounts) ?? []
    entries = Dictionary(listed.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Reads again whenever the group has changed; more often while nothing can be shown.
  private func follow(_ group: KeychainGroup, since known: UInt64?) {
    watch?.cancel()
    let changes = keychain.changes(of: group, since: known, limit: obstacle == nil ? 60 : 5)
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

  private var search: Search {
    let filter = Search.Filter.allCases.first { Self.label(of: $0) == filterChoice.selected }
    return Search(builder.widget("search").text(of: "text"), filter: filter ?? .all)
  }

  private func show() {
    groupChoice.items = (groups.isEmpty ? [group] : groups).map(\.name)
    groupChoice.selected = group.name
    let search = search
    let found = listed.found(search)
    accounts.show(found.map(\.id))
    if plaintext.caches.isEmpty { isPlaintextShown = false }
    if let id = wanted, entries[id] != nil {
      accounts.selected = id
      (wanted, isPlaintextShown) = (nil, false)
    }
    if accounts.selected == nil, !isPlaintextShown { accounts.selected = found.first?.id }
    let hasAccounts = listing?.accounts.isEmpty == false
    if found.isEmpty {
      if hasAccounts {
        let text = builder.widget("search").text(of: "text")
        let isFiltered = filterChoice.selected != Self.label(of: .all)
        let reason =
          isFiltered
          ? localized("No account or token matches the search.")
          : localized("No account or token has “%s”.", text)
        showStatus("edit-find-symbolic", Trouble(localized("No Results"), reason))
      } else {
        showState()
      }
    }
    showOne(found.isEmpty ? "status" : "accounts-scroll", of: ["status", "accounts-scroll"])
    builder.widget("add").isSensitive = listing != nil
    // Without accounts the state has the whole window.
    for id in ["separator", "content"] { builder.widget(id).isVisible = hasAccounts || isPlaintextShown }
    showContent()
  }

  /// Shows why there is no list of accounts, and what helps.
  private func showState() {
    if let obstacle {
      let icon = obstacle.help == .unlock ? "changes-prevent-symbolic" : "dialog-warning-symbolic"
      showStatus(icon, obstacle)
    } else if let emptyGroup {
      let icon =
        emptyGroup.reason.help == .signIn(SignInRequest())
        ? "system-users-symbolic" : "dialog-warning-symbolic"
      showStatus(icon, emptyGroup.reason, groups: emptyGroup.groupsWithAccounts)
    } else {
      showStatus("content-loading-symbolic", Trouble(localized("Reading…"), ""))
    }
  }

  private func showStatus(_ icon: String, _ trouble: Trouble, groups: [KeychainGroup] = []) {
    let status = builder.widget("status")
    status.set("icon-name", icon)
    status.set("title", markup(trouble.title))
    status.set("description", markup(trouble.description))
    let button = builder.widget("status-button")
    button.isVisible = trouble.help != nil
    if let help = trouble.help { button.setMnemonicLabel(Self.label(of: help)) }
    statusGroups.show(groups.map(\.name))
    statusGroups.isVisible = !groups.isEmpty
  }

  private func showContent() {
    let account = isPlaintextShown ? nil : selectedAccount
    tokens.show(account, search)
    let title = builder.widget("title")
    title.set("title", isPlaintextShown ? localized("Plaintext Tokens") : account?.title ?? "")
    title.set("subtitle", account?.subtitle ?? "")
    let signOut = builder.widget("sign-out")
    signOut.isVisible = account?.canBeRemoved ?? false
    let action = account?.clientIDs.isEmpty == false ? localized("Sign Out…") : localized("Remove…")
    signOut.set("tooltip-text", localized("%s (Ctrl+Delete)", action))
    signOut.setAccessibleName(action)
    builder.widget("sign-in").isVisible = account?.requiredSignIn(at: Date()) != nil
    let page = account.map { $0.tokens.isEmpty ? "signed-out" : "account-scroll" } ?? "none"
    showOne(
      isPlaintextShown ? "plaintext-page" : page,
      of: ["account-scroll", "signed-out", "none", "plaintext-page"])
    showPanes()
    showBanners()
  }

  /// Shows one of some pages. GTK 4.8 does not hide the others of a `GtkStack` from screen readers.
  private func showOne(_ id: String, of ids: [String]) {
    for other in ids { builder.widget(other).isVisible = other == id }
  }

  /// Shows what depends on whether both panes are visible.
  private func showPanes() {
    let leaflet = builder.widget("leaflet")
    let isContentVisible = builder.widget("content").isVisible
    let isSidebarAlone =
      !isContentVisible || (leaflet.flag(of: "folded") && leaflet.text(of: "visible-child-name") == "sidebar")
    builder.widget("sidebar").set("hexpand", !isContentVisible)
    builder.widget("back").isVisible = isPlaintextShown || leaflet.flag(of: "folded")
    builder.widget("sidebar-header").set(
      "show-end-title-buttons", !isContentVisible || leaflet.flag(of: "folded"))
    let (place, other) =
      isSidebarAlone ? ("sidebar-banners", "content-banners") : ("content-banners", "sidebar-banners")
    builder.widget(other).set("child", nil)
    builder.widget(place).set("child", bannerBuilder.widget("banners"))
  }

  /// The problems in the bar, the first by its title. One that prevents reading the group has its own page.
  private var barTroubles: [Trouble] { actionError.map { [$0] } ?? listing?.troubles ?? [] }

  private func showBanners() {
    let troubles = barTroubles
    if let first = troubles.first {
      let more = troubles.count - 1
      bannerBuilder.widget("trouble-text").set(
        "label",
        more == 0
          ? first.title : localized("%s (and %d more)", "%s (and %d more)", count: more, first.title, more))
      bannerBuilder.widget("trouble-button").setAccessibleDescription("\(first.title). \(first)")
    }
    bannerBuilder.widget("trouble-close").isVisible = actionError != nil
    bannerBuilder.widget("trouble-bar").isVisible = !troubles.isEmpty
    let count = plaintext.caches.count
    bannerBuilder.widget("plaintext-text").set(
      "label",
      localized(
        "Plaintext tokens of other programs (%d file)", "Plaintext tokens of other programs (%d files)",
        count: count, count))
    bannerBuilder.widget("plaintext-bar").isVisible = count > 0 && !isPlaintextShown
  }

  private static func label(of filter: Search.Filter) -> String {
    switch filter {
    case .all: localized("All")
    case .expired: localized("Expired")
    case .needsSignIn: localized("Needs a sign-in")
    }
  }

  private static func label(of help: Trouble.Help) -> String {
    switch help {
    case .unlock: localized("_Unlock")
    case .doctor: localized("_Check Setup")
    case .removeDamaged: localized("_Remove…")
    case .signIn: localized("_Sign In…")
    }
  }
}

// What the user does.
extension KeychainWindow {
  private func connect() {
    accounts.onSelect { [weak self] in
      self?.isPlaintextShown = false
      self?.showContent()
    }
    // GTK would enter the tokens where the focus was last.
    accounts.onFocus { [weak self] in self?.tokens.list.rewind() }
    accounts.connect("activate") { [weak self] in self?.goForward() }
    builder.widget("search").connect("search-changed") { [weak self] in self?.show() }
    builder.widget("search").onDown { [weak self] in self?.accounts.focus() }
    builder.widget("search-button").connect("toggled") { [weak self] in
      // Closing the search shows everything again.
      guard let self, !builder.widget("search-button").flag(of: "active") else { return }
      filterChoice.selected = Self.label(of: .all)
      show()
    }
    filterChoice.onSelect { [weak self] in self?.show() }
    builder.widget("by-app").connect("toggled") { [weak self] in
      self?.list()
      self?.show()
    }
    groupChoice.onSelect { [weak self] in self?.changeGroup(to: self?.groupChoice.selected) }
    for signal in ["notify::folded", "notify::visible-child"] {
      builder.widget("leaflet").connect(signal) { [weak self] in self?.showPanes() }
    }
    builder.widget("back").connect("clicked") { [weak self] in self?.goBack() }
    builder.widget("sign-out").connect("clicked") { [weak self] in self?.signOut() }
    builder.widget("sign-in").connect("clicked") { [weak self] in
      if let request = self?.selectedAccount?.requiredSignIn(at: Date()) { self?.signIn(request) }
    }
    builder.widget("sign-in-again").connect("clicked") { [weak self] in
      if let account = self?.selectedAccount { self?.signIn(account.signIn) }
    }
    builder.widget("status-button").connect("clicked") { [weak self] in
      self?.help(self?.obstacle?.help ?? self?.emptyGroup?.reason.help)
    }
    bannerBuilder.widget("plaintext-button").connect("clicked") { [weak self] in
      self?.isPlaintextShown = true
      // A click on the account then shows it again.
      self?.accounts.selected = nil
      self?.show()
      self?.goForward()
    }
    bannerBuilder.widget("trouble-button").connect("clicked") { [weak self] in self?.showDetails() }
    bannerBuilder.widget("trouble-close").connect("clicked") { [weak self] in
      self?.actionError = nil
      self?.showBanners()
    }
    widget.connect("close-request") { [weak self] _ in
      guard let self else { return false }
      end()
      guard !unfinished.isEmpty else { return false }
      // What fails from now on brings it back.
      begin()
      widget.isVisible = false
      let tasks = unfinished
      let end = Task {
        for task in tasks { await task.value }
        await self.keychain.finish()
      }
      ending?.cancel()
      ending = Task {
        // A server that says nothing for so long may never; the keyring's question has two minutes.
        let limit = Task { [questions] in try? await Task.sleep(for: .seconds(questions == 0 ? 10 : 130)) }
        Task {
          await end.value
          limit.cancel()
        }
        await limit.value
        // It was shown again, or closed once more.
        if Task.isCancelled { return }
        if self.actionError != nil { return self.present() }
        self.unfinished = []
        self.widget.close()
      }
      return true
    }
  }

  private func addActions(to application: Application) {
    let actions: [(name: String, keys: [String], run: @MainActor (KeychainWindow) -> Void)] = [
      ("refresh", ["F5", "<Control>r"], { $0.reload() }),
      (
        "search", ["<Control>f"],
        {
          // In a narrow window another pane may be shown.
          $0.builder.widget("leaflet").set("visible-child-name", "sidebar")
          $0.builder.widget("search-bar").set("search-mode-enabled", true)
        }
      ),
      ("add", ["<Control>n"], { $0.signIn(SignInRequest()) }),
      ("import", ["<Control>o"], { $0.importFile() }),
      ("sign-out", ["<Control>Delete"], { $0.signOut() }),
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
    application.setShortcuts(["<Control>question"], for: "win.show-help-overlay")
  }

  /// Leaves no token behind, on the screen or in the clipboard.
  private func end() {
    keepState()
    signInWindow?.close()
    tokens.hideAll()
    clipboard.clear()
    for task in [watch, clock, loading, unlocking] { task?.cancel() }
    signals = nil
  }

  private func keepState() {
    guard var state else { return }
    (state.width, state.height) = widget.size
    (state.isMaximized, state.group) = (widget.isMaximized, group)
    state.firstShards = listing?.firstShards ?? []
    state.save()
    self.state = state
  }

  private func goForward() { builder.widget("leaflet").set("visible-child-name", "content") }

  private func goBack() {
    isPlaintextShown = false
    builder.widget("leaflet").set("visible-child-name", "sidebar")
    show()
  }

  private func changeGroup(to name: String?) {
    guard let chosen = groups.first(where: { $0.name == name }), chosen != group else { return }
    group = chosen
    (listing, listed, entries, emptyGroup, actionError, isPlaintextShown) = (nil, [], [:], nil, nil, false)
    show()
    reload()
  }

  /// Asks what is to go: the tokens, or the account with them.
  private func signOut() {
    guard let account = selectedAccount, account.canBeRemoved else { return }
    let (clients, apps) = (account.clientIDs, account.apps)
    let signOut =
      apps.count > 3
      ? localized(
        "Signing out removes the tokens of %d app from the group %s.",
        "Signing out removes the tokens of %d apps from the group %s.", count: apps.count, apps.count,
        group.name)
      : localized(
        "Signing out removes the tokens of %s from the group %s.", apps.joined(separator: ", "), group.name)
    let remove = localized("Removing the account also removes it from the list, for all apps of the group.")
    let end = localized("You stay signed in in the browser, and the server revokes no token.")
    Task {
      let response = await MessageDialog.show(
        clients.isEmpty
          ? localized("Remove %s?", account.title) : localized("Sign Out %s?", account.title),
        (clients.isEmpty ? [remove, end] : [signOut, remove, end]).joined(separator: "\n\n"),
        responses: [.init("remove", localized("_Remove Account"), .destructive)]
          + (clients.isEmpty ? [] : [.init("sign-out", localized("_Sign Out"))]), over: widget)
      switch response {
      case "sign-out":
        finishing(localized("Signed out %s.", account.title)) { keychain, group throws(Trouble) in
          try await keychain.signOut(account, of: clients, in: group)
        }
      case "remove":
        finishing(localized("Removed %s.", account.title)) { keychain, group throws(Trouble) in
          try await keychain.remove(account, in: group)
        }
      default: break
      }
    }
  }

  private func help(_ help: Trouble.Help?) {
    switch help {
    case .unlock: unlock()
    case .doctor: checkSetup()
    case .removeDamaged: removeDamaged()
    case .signIn(let request): signIn(request)
    case nil: break
    }
  }

  private func signIn(_ request: SignInRequest) {
    // What cannot be read could not be kept either.
    guard listing != nil, signInWindow == nil else { return }
    signInWindow = SignInWindow(request, over: self) { [weak self] in self?.signInWindow = nil }
  }

  /// Imports a plaintext cache that the person chooses.
  private func importFile() {
    guard listing != nil else { return obstacle.map(report) ?? () }
    Task {
      guard let path = await FileChooser.open(localized("Import a Token Cache"), over: widget) else { return }
      begin()
      do throws(Trouble) {
        plaintext.adopt(try await keychain.plaintextCache(at: path))
      } catch {
        report(error)
      }
    }
  }

  private func unlock() {
    let button = builder.widget("status-button")
    button.isSensitive = false
    unlocking = Task {
      await run(nil) { keychain, group throws(Trouble) in try await keychain.unlock(group) }
      button.isSensitive = true
    }
  }

  private func removeDamaged() {
    Task {
      var asked: [String]
      repeat {
        asked = damage
        if asked.isEmpty {
          // The group may be locked by now.
          if listing == nil, let obstacle { return report(obstacle) }
          return announce(localized("Nothing is unreadable any more."))
        }
        let rest = asked.count - 5
        let more =
          rest > 0
          ? [
            localized(
              "The same is done with %d more.", "The same is done with %d more.", count: rest, rest)
          ] : []
        let response = await MessageDialog.show(
          localized("Remove Unreadable Entries?"),
          (asked.prefix(5) + more + [localized("This cannot be undone. Readable entries are kept.")])
            .joined(separator: "\n\n"),
          responses: [.init("remove", localized("_Remove"), .destructive)], over: widget)
        guard response == "remove" else { return }
        // More may have become unreadable, of which the question says nothing.
        await load()
      } while damage != asked
      finishing(localized("Removed unreadable entries.")) { keychain, group throws(Trouble) in
        try await keychain.removeDamaged(in: group)
      }
    }
  }

  /// What ``Keychain/removeDamaged(in:)`` would do, part by part, or why nothing of the group can be read.
  private var damage: [String] {
    guard let listing else { return obstacle?.help == .removeDamaged ? [obstacle?.message ?? ""] : [] }
    return listing.damage.map { part in
      let modified = part.modified.map { dateText($0.timeIntervalSince1970) } ?? ""
      return switch (modified.isEmpty, part.isRemoved) {
      case (false, true): localized("%s, last written on %s, will be removed.", part.name, modified)
      case (false, false):
        localized("%s, last written on %s, will count as the current version.", part.name, modified)
      case (true, true): localized("%s: will be removed.", part.name)
      case (true, false): localized("%s: will count as the current version.", part.name)
      }
    }
  }

  /// Shows all of the problems in the bar, with what helps.
  private func showDetails() {
    let troubles = barTroubles
    let help = troubles.lazy.compactMap(\.help).first
    let text = troubles.prefix(5).map(\.description).joined(separator: "\n\n")
    showText(troubles.first?.title ?? "", text, help)
  }

  private func checkSetup() {
    Task {
      do throws(Trouble) {
        let findings = try await Doctor.findings().filter { !["ok", "fixed"].contains($0.state) }
        let lines = findings.map { finding in
          [finding.message, finding.advice].compactMap { $0.map { printable($0, isName: false) } }
            .joined(separator: "\n")
        }
        showText(
          findings.isEmpty ? localized("No Problems Found") : localized("Results"),
          lines.isEmpty ? localized("“llavero doctor” found no problems.") : lines.joined(separator: "\n\n"))
      } catch {
        report(error)
      }
    }
  }

  /// Shows a text that can be copied, and a button for what helps.
  private func showText(_ heading: String, _ text: String, _ help: Trouble.Help? = nil) {
    Task {
      let buttons =
        [MessageDialog.Response("copy", localized("C_opy"))]
        + (help.map { [MessageDialog.Response("help", Self.label(of: $0), .suggested)] } ?? [])
      switch await MessageDialog.show(
        heading, text, responses: buttons, over: widget, dismissal: localized("_Close"))
      {
      case "copy": clipboard.copy("\(heading)\n\n\(text)\n")
      case "help": self.help(help)
      default: break
      }
    }
  }

  /// As `run`, and the program does not end before, also while the keyring asks the person.
  func finishing(
    _ success: String?, _ body: @escaping @MainActor (Keychain, KeychainGroup) async throws(Trouble) -> Void
  ) {
    finishing(asking: true) { [self] in await run(success, body) }
  }

  private func run(
    _ success: String?, _ body: @MainActor (Keychain, KeychainGroup) async throws(Trouble) -> Void
  ) async {
    begin()
    beginRunning()
    defer { endRunning() }
    do throws(Trouble) {
      try await body(keychain, group)
      if let success { announce(success) }
    } catch {
      report(error)
    }
    showBanners()
    reload()
  }

  private func showAbout() {
    let about = Builder(Interface.about)
    about.widget("about").set("version", keychain.version)
    Window(about, "about", over: widget).present()
  }
}
