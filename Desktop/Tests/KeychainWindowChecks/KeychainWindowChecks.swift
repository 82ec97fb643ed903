import CGTK
import FoundationEssentials
import GTKSupport
import Glibc
import KeychainModel
import KeychainWindow
import TokenCache

/// Checks how much the window with 1,000 accounts does in one turn of its loop, by the rows that it makes. Prints a line for
/// each check, and the processor time of the longest turn beside that of an empty window. The time is no check: it grows with
/// what else the machine does.
@main
@MainActor
struct KeychainWindowChecks {
  nonisolated static let count = 1000

  private static var window: KeychainWindow?

  static func main() {
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.KeychainWindowChecks")
      LoopTimer.start()
      let code = application.run {
        Task {
          do throws(CacheError) {
            try await examine(application)
          } catch {
            check("\(error)", false)
          }
          application.quit()
        }
        window = makeWindow(application, InMemoryStore())
      }
      check("the loop ends when it is told to", code == 0)
    } catch {
      check("\(error)", false)
    }
  }

  static func examine(_ application: Application) async throws(CacheError) {
    // The first window of a process loads fonts and icons.
    _ = await show(in: application, InMemoryStore(), accounts: 0)
    // Of several rounds the least: what else the machine does only adds to it.
    var empty = UInt64.max
    var full: [(step: String, longest: UInt64)] = []
    for round in 1...3 {
      empty = min(empty, await show(in: application, InMemoryStore(), accounts: 0))
      let store = InMemoryStore()
      _ = try await TokenCacheAccessor(store: store).import(await document())
      let steps = try await steps(in: application, store)
      full = round == 1 ? steps : zip(full, steps).map { $0.longest < $1.longest ? $0 : $1 }
    }
    print("note an empty window: the longest turn took \(LoopTimer.text(empty))")
    for (step, longest) in full {
      let ratio = Double(longest) / Double(empty)
      print("note \(step): the longest turn took \(LoopTimer.text(longest)), \(Int(ratio * 100)) % of that")
    }
    check(
      "no turn of the loop makes more than \(RowList.step) rows",
      window.map { (1...RowList.step).contains($0.accounts.mostRowsAtOnce) } ?? false)
  }

  /// What a user and another program do with a window with all accounts, and the longest turn of each.
  private static func steps(
    in application: Application, _ store: InMemoryStore
  ) async throws(CacheError) -> [(step: String, longest: UInt64)] {
    var steps = [("The window is shown", await show(in: application, store, accounts: count))]
    guard let window else { return [] }
    LoopTimer.clear()
    window.search("person0600")
    await until { window.accounts.count == 1 }
    window.search("")
    await until { window.accounts.count == count }
    check("the account that was found stays selected", window.accounts.selected == account(600))
    steps.append(("A search finds one account, and ends", LoopTimer.longest))

    LoopTimer.clear()
    for number in stride(from: 0, to: count, by: 100) {
      window.select(account(number))
      await until { window.accounts.selected == account(number) }
      await drawn(window)
    }
    steps.append(("Ten accounts are selected, one after the other", LoopTimer.longest))

    LoopTimer.clear()
    _ = try await TokenCacheAccessor(store: store).removeAccount(account(500))
    await until { window.accounts.count == count - 1 }
    steps.append(("Another program removes an account", LoopTimer.longest))
    return steps
  }

  /// Shows another window in place of the one before, and returns the longest turn.
  private static func show(in application: Application, _ store: InMemoryStore, accounts: Int) async -> UInt64
  {
    let former = window
    let shown = makeWindow(application, store)
    former?.close()
    window = shown
    await turns(100)
    LoopTimer.clear()
    shown.present()
    await until { shown.accounts.count == accounts }
    await turns(200)
    return LoopTimer.longest
  }

  /// Waits until a window has drawn a frame with what it shows now.
  private static func drawn(_ window: KeychainWindow) async {
    let clock = gtk_widget_get_frame_clock(window.accounts.cast())
    let former = gdk_frame_clock_get_frame_counter(clock)
    // Where the window shows that already, there is nothing to draw.
    gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_PAINT)
    await until { gdk_frame_clock_get_frame_counter(clock) > former }
  }

  private static func makeWindow(_ application: Application, _ store: InMemoryStore) -> KeychainWindow {
    KeychainWindow(application, keychain: Keychain(environment: ["HOME": "/proc/nonexistent"], store: store))
  }

  nonisolated static func account(_ number: Int) -> String { "person\(number).contoso" }

  @concurrent static func document() async -> CacheDocument {
    var document = CacheDocument()
    for number in 0..<count {
      let id = account(number)
      var record = AccountRecord(
        homeAccountID: id, environment: "login.microsoftonline.com", realm: "contoso")
      let digits = String(10_000 + number).dropFirst()
      record.username = "person\(digits)@contoso.com"
      record.name = "Person \(digits)"
      document.accounts[id] = record
      for scope in ["Mail.Read", "Files.Read", "User.Read"] {
        var token = Credential(
          type: .accessToken, homeAccountID: id, environment: "login.microsoftonline.com", clientID: "client",
          secret: String(repeating: "x", count: 1500))
        token.realm = "contoso"
        token.target = scope
        token.expiresOn = Date(timeIntervalSinceNow: 3000)
        document.accessTokens["\(id) \(scope)"] = token
      }
      document.refreshTokens[id] = Credential(
        type: .refreshToken, homeAccountID: id, environment: "login.microsoftonline.com", clientID: "client",
        secret: String(repeating: "y", count: 1500))
    }
    return document
  }

  static func until(_ condition: () -> Bool) async {
    while !condition() { await turns(1) }
  }

  static func turns(_ count: Int) async {
    for _ in 0..<count { try? await Task.sleep(for: .milliseconds(2)) }
  }

  static func check(_ what: String, _ holds: Bool) {
    print(holds ? "ok" : "FAILED", what)
    fflush(nil)
  }
}
