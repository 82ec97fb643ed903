import FoundationEssentials
import GTKSupport
import Glibc
import KeychainModel
import KeychainWindow

/// A window on the keychain groups of Llavero.
@main
@MainActor
struct LlaveroDesktop {
  static func main() {
    leaveNoCore()
    let settings = KeychainSettings(environment: ProcessInfo.processInfo.environment)
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.Llavero", isUnique: true)
      var window: KeychainWindow?
      let code = application.run {
        let shown = window ?? KeychainWindow(application, keychain: Keychain(settings: settings))
        window = shown
        shown.present()
      }
      exit(code)
    } catch {
      let text = "llavero-desktop: \(error)\n"
      write(STDERR_FILENO, text, text.utf8.count)
      exit(1)
    }
  }

  /// A core file would hold tokens. Not 0: a program that takes cores would still be given one.
  private static func leaveNoCore() {
    var none = rlimit(rlim_cur: 1, rlim_max: 1)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}
