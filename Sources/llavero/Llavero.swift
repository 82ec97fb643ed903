import AccountCommands
import ArgumentParser
import CommandSupport
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
    version: CommandProgram.version,
    subcommands: [
      Networked<LoginOptions>.self, Logout.self, Token.self, Status.self, Groups.self, Accounts.self, List.self, Show.self, Clear.self, Import.self, Export.self,
    ])

  static func main() async {
    await CommandProgram.run(Self.self)
  }
}
