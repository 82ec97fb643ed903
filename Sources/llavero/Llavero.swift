import ArgumentParser
import IdentityClient
import TokenCache

struct Llavero: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "llavero",
    abstract: "Sign in with Microsoft Entra ID, get tokens, and manage MSAL token caches.",
    discussion: """
      A keychain group is a set of apps that share one token cache. Without --group, commands use MSAL's \
      default group, \(KeychainGroup.default.name).

      Tokens are printed only by "token", "git-credential" and "export", and by "show" with --reveal. To \
      a terminal "export" prints them only with --reveal, too. The keyring's password is asked for only \
      with --unlock, or by the portal with --key portal. --store file keeps the cache in encrypted \
      files, for machines without a keyring; an etcd address as --store keeps it in a cluster for \
      several machines.

      "llavero help options" shows the options of many commands, which choose the client, the store and the \
      broker. They can be set in the environment or in ~/.config/llavero/config: see "llavero help settings".

      EXIT CODES
        0  done
        1  error
        2  wrong usage
        3  action required: sign in, unlock the keyring, or confirm
        4  the network or the server failed
        5  cancelled

      With --json, commands print one JSON object; the help of each command names its members. Times are ISO \
      8601, unknown values are left out, and new members may be added. Problems are [kind, shard, detail, \
      remedy]. An error is {"error": {"code", "message", "advice"}} on standard error, which otherwise has \
      only prompts, sign-in instructions, the requests of "llavero lend" and the log of --verbose and LLAVERO_LOG.
      """,
    version: Library.version,
    groupedSubcommands: [
      CommandGroup(
        name: "Sign in",
        subcommands: [
          Login.self, Logout.self, Status.self, Token.self, Get.self, Lend.self, GitCredential.self,
          Shim.self,
        ]),
      CommandGroup(
        name: "Look after the cache",
        subcommands: [
          List.self, Show.self, Clear.self, Import.self, Export.self, Adopt.self, Setup.self, Rekey.self,
          Doctor.self, Scheme.self,
        ]),
    ])
}
