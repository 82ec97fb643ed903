import FoundationEssentials
import GTKSupport
import Glibc
import IdentityClient
import KeychainModel
import KeychainWindow
import Localization

/// A window on the keychain groups of Llavero.
@main
@MainActor
struct LlaveroDesktop {
  static func main() {
    preventCrashFiles()
    answerArguments()
    bindCatalogues()
    let state = WindowState()
    let keychain = Keychain(
      environment: ProcessInfo.processInfo.environment, group: state.group,
      asking: KeychainWindow.passphraseQuestion)
    // While GTK starts.
    keychain.prepare(first: keychain.group == state.group ? state.firstShards : [])
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.Llavero", isUnique: true)
      var window: KeychainWindow?
      let code = application.run {
        let shown = window ?? KeychainWindow(application, keychain: keychain, state: state)
        window = shown
        shown.present()
      }
      exit(code)
    } catch {
      end(1, saying: "llavero-desktop: \(error)", to: STDERR_FILENO)
    }
  }

  /// Ends the program where it was started with arguments: everything else is told in its window and by variables.
  private static func answerArguments() {
    switch CommandLine.arguments.dropFirst() {
    case []: break
    case ["--version"]: end(0, saying: ClientConfiguration.libraryVersion, to: STDOUT_FILENO)
    case ["--help"], ["-h"]:
      end(
        0,
        saying: """
          Shows the accounts and tokens in the keychain groups of Llavero, in a window.

          USAGE: llavero-desktop [--help] [--version]

          ENVIRONMENT
            The variables and the configuration of llavero ("llavero help settings"), and BROWSER
          """, to: STDOUT_FILENO)
    default:
      end(2, saying: "llavero-desktop: It takes no arguments. See llavero-desktop --help.", to: STDERR_FILENO)
    }
  }

  private static func end(_ code: Int32, saying text: String, to file: Int32) -> Never {
    write(file, text + "\n", text.utf8.count + 1)
    exit(code)
  }

  /// A core file would hold tokens. Not 0: a program that takes cores would still be given one. Swift's own report, where there
  /// is a toolchain, has registers and the memory they point to.
  private static func preventCrashFiles() {
    var none = rlimit(rlim_cur: 1, rlim_max: 1)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
      let handler = signal(number, SIG_DFL)
      // What the program was started to ignore stays ignored.
      if unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
  }
}
