import ArgumentParser
import CommandSupport
import Glibc
import TokenCache

@main
struct Llavero: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "llavero",
    abstract: "Looks into MSAL token caches in the Secret Service keyring, fills and clears them.",
    discussion: """
      A keychain group is a set of apps that share one token cache. Without --group, commands are about \
      MSAL's default group, \(KeychainGroup.default.name).

      Tokens are shown only with --reveal. Nothing asks for the keyring's password unless --unlock is given.

      EXIT CODES
        0  done
        1  error
        2  wrong usage
        3  somebody has to act first: unlock the keyring, or confirm
        5  cancelled

      With --json, commands print one JSON object; the help of each names its members. Times are ISO 8601, \
      what is not known is left out, and new members may come. Problems are [kind, shard, detail]. An error \
      is {"error": {"code", "message", "advice"}} on standard error.
      """,
    version: "0.1.0",
    subcommands: [
      Groups.self, Accounts.self, List.self, Show.self, Clear.self, Import.self, Export.self,
    ])

  static func main() async {
    // A core file would hold tokens. Not 0: a program that takes cores, such as apport, would still be given one.
    // With 1 the kernel writes no file either.
    var none = rlimit(rlim_cur: 1, rlim_max: 1)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure.exit(with: error, of: Self.self)
    }
  }
}
