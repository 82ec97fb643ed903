import GTKSupport
import KeychainModel
import Localization
import TokenCache

/// The tokens of one account, with their actions.
@MainActor
final class TokenPage {
  /// How long a token is shown, or stays in the clipboard.
  static let exposure = Duration.seconds(30)

  /// A token of a group: the same account and app may be in several.
  private struct Place: Hashable {
    let group: KeychainGroup
    let id: TokenEntry.ID
  }

  struct State {
    /// The token, while it is shown.
    var secret: String?
    var hiding: Task<Void, Never>?
    var renewal: Task<Void, Never>?

    var isRenewing: Bool { renewal != nil }
  }

  private(set) lazy var list = RowList(isSelectable: false) { [unowned self] in TokenRow(page: self) }
  private unowned let window: KeychainWindow
  private let clipboard: Clipboard
  private var tokens: [String: TokenEntry] = [:]
  private var states: [Place: State] = [:]
  private var entry: AccountEntry?
  /// How often the tokens were hidden.
  private var hidings = 0

  init(window: KeychainWindow, clipboard: Clipboard) {
    self.window = window
    self.clipboard = clipboard
    list.addStyle("tokens")
    list.setAccessibleName(localized("Tokens"))
  }

  /// Shows those tokens of an account that a search finds.
  func show(_ entry: AccountEntry?, _ search: Search) {
    if self.entry?.id != entry?.id {
      hideAll()
    } else if self.entry != entry {
      // They may be those of the tokens before.
      hideSecrets()
    }
    self.entry = entry
    let entries = (entry?.tokens(search) ?? []).map { ("\($0.id.section.rawValue) \($0.id.key)", $0) }
    tokens = Dictionary(entries) { first, _ in first }
    list.show(entries.map(\.0))
  }

  func token(_ id: String) -> TokenEntry? { tokens[id] }

  /// What tells a token from the others that are shown.
  func label(of token: TokenEntry) -> String? { entry?.label(of: token) }

  private func place(of token: TokenEntry) -> Place { Place(group: window.group, id: token.id) }

  func state(of token: TokenEntry) -> State { states[place(of: token)] ?? State() }

  func reveal(_ token: TokenEntry) {
    let place = place(of: token)
    if states[place]?.secret != nil { return hide(place) }
    withSecret(of: token) { secret in
      self.states[place, default: State()].secret = secret
      self.states[place]?.hiding = Task {
        guard (try? await Task.sleep(for: Self.exposure)) != nil else { return }
        self.hide(place)
      }
      self.list.refresh()
    }
  }

  func copy(_ token: TokenEntry) {
    withSecret(of: token) { secret in
      self.clipboard.copy(secret: secret, for: Self.exposure)
      self.window.announce(localized("Copied. The clipboard is cleared in 30 seconds."))
    }
  }

  /// Copies what is not secret.
  func copy(_ detail: String) {
    clipboard.copy(detail)
    window.announce(localized("Copied."))
  }

  func renew(_ token: TokenEntry) {
    let place = place(of: token)
    states[place, default: State()].renewal = window.finishing { [window] in
      do throws(Trouble) {
        try await window.keychain.renew(token, in: place.group)
        window.announce(localized("Renewed."))
      } catch {
        window.report(error)
      }
      self.states[place]?.renewal = nil
      self.list.refresh()
      window.reload()
    }
    list.refresh()
  }

  func cancelRenewal(of token: TokenEntry) { states[place(of: token)]?.renewal?.cancel() }

  func remove(_ token: TokenEntry) {
    Task {
      let response = await MessageDialog.show(
        localized("Remove This Token?"),
        localized(
          "%s: this token is removed from the group %s, and the server does not revoke it.", token.title,
          window.group.name),
        responses: [.init("remove", localized("_Remove"), .destructive)], over: window.widget)
      guard response == "remove" else { return }
      window.finishing(nil) { keychain, group throws(Trouble) in
        try await keychain.remove(token, in: group)
      }
    }
  }

  /// Hides every token that is shown.
  func hideAll() {
    hidings += 1
    hideSecrets()
  }

  private func hideSecrets() { for place in states.keys { hide(place) } }

  private func hide(_ place: Place) {
    states[place]?.hiding?.cancel()
    states[place]?.secret = nil
    list.refresh()
  }

  /// Gets a token's secret, unless the tokens were hidden meanwhile or another group was chosen.
  private func withSecret(of token: TokenEntry, _ use: @escaping @MainActor (String) -> Void) {
    let (hidings, group) = (hidings, window.group)
    window.begin()
    Task {
      do throws(Trouble) {
        let secret = try await window.keychain.secret(of: token, in: group)
        if hidings == self.hidings, group == window.group { use(secret) }
      } catch {
        window.report(error)
        window.reload()
      }
    }
  }
}
