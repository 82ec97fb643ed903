import FoundationEssentials
import GTKSupport
import Glibc
import KeychainModel
import KeychainWindow
import TokenCache

/// Looks at the window with 1,000 accounts: how much it does in one turn of the loop. Prints a line for each check, and
/// what was measured.
@main
@MainActor
struct KeychainWindowChecks {
  nonisolated static let count = 1000

  static func main() {
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.KeychainWindowChecks")
      let store = InMemoryStore()
      var window: KeychainWindow?
      LoopTimer.start()
      let code = application.run {
        let keychain = Keychain(environment: ["HOME": "/proc/nonexistent"], store: store)
        let shown = KeychainWindow(application, keychain: keychain)
        window = shown
        Task {
          do throws(CacheError) {
            try await examine(shown, TokenCacheAccessor(store: store))
          } catch {
            check("\(error)", false)
          }
          application.quit()
        }
      }
      withExtendedLifetime(window) { check("the loop ends when it is told to", code == 0) }
    } catch {
      check("\(error)", false)
    }
  }

  static func examine(_ window: KeychainWindow, _ cache: TokenCacheAccessor) async throws(CacheError) {
    _ = try await cache.import(await document())
    LoopTimer.clear()
    window.present()
    await until { window.accounts.count == count }
    tell("the window is shown, and \(count) accounts enter it")
    check("all accounts are in the list", window.accounts.count == count)

    LoopTimer.clear()
    window.search("person0999")
    await until { window.accounts.count == 1 }
    tell("a search finds one")
    window.search("")
    await until { window.accounts.count == count }
    tell("all accounts are shown again")

    LoopTimer.clear()
    for number in stride(from: 0, to: count, by: 100) {
      window.select(account(number))
      await turns(20)
    }
    tell("ten accounts are selected, one after the other")

    LoopTimer.clear()
    _ = try await cache.removeAccount(account(500))
    await until { window.accounts.count == count - 1 }
    tell("another program removes one")

    LoopTimer.clear()
    await turns(200)
    tell("nothing happens")
    check(
      "no turn of the loop makes more than \(RowList.step) rows",
      (1...RowList.step).contains(window.accounts.mostRowsAtOnce))
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

  static func tell(_ what: String) {
    let tenths = Int(LoopTimer.milliseconds * 10)
    print("note \(what): the longest of \(LoopTimer.turns) turns took \(tenths / 10).\(tenths % 10) ms")
    fflush(nil)
  }

  static func check(_ what: String, _ holds: Bool) {
    print(holds ? "ok" : "FAILED", what)
    fflush(nil)
  }
}
