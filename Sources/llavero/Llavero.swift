import ArgumentParser
import IdentityClient
import TokenCache

struct Llavero: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "llavero",
    abstract: "Signs in, gives programs their tokens, and looks after MSAL token caches in the keyring.",
    discussion: """
      A keychain group is a set of apps that share one token cache. Without --group, commands are about \
      MSAL's default group, \(KeychainGroup.default.name).

      Tokens are shown only by "token" and with --reveal. Nothing asks for the keyring's password unless \
      --unlock is given. With --store file the cache is in encrypted files instead, for machines without a \
      keyring, and with --store etcd in a cluster that several machines share.

      Options such as --client and --tenant can be given once for all, as lines such as "client = <id>" \
      under [llavero] in ~/.config/llavero/config, or in the environment.

      EXIT CODES
        0  done
        1  error
        2  wrong usage
        3  action required: sign in, unlock the keyring, or confirm
        4  the network or the server failed
        5  cancelled

      With --json, commands print one JSON object; the help of each names its members. Times are ISO 8601, \
      what is not known is left out, and new members may come. Problems are [kind, shard, detail]. An error \
      is {"error": {"code", "message", "advice"}} on standard error, where nothing else stands but what a person \
      has to see to sign in or out or to answer, and the requests of "llavero lend".

      ENVIRONMENT
        LLAVERO_AUTHORITY, LLAVERO_CLIENT_ID, LLAVERO_TENANT, LLAVERO_SCOPE, LLAVERO_ACCOUNT, LLAVERO_GROUP,
        LLAVERO_STORE, LLAVERO_KEY, LLAVERO_ENDPOINTS, LLAVERO_PREFIX, LLAVERO_ETCD_USER,
        LLAVERO_ETCD_PASSWORD, LLAVERO_COLLECTION, LLAVERO_CA_BUNDLE, LLAVERO_GRAPH_URL, LLAVERO_BROKER,
        LLAVERO_FROM
      """,
    version: Library.version,
    groupedSubcommands: [
      CommandGroup(
        name: "Sign in",
        subcommands: [
          Login.self, Logout.self, Status.self, Token.self, Me.self, Get.self, Lend.self, GitCredential.self,
          Shim.self,
        ]),
      CommandGroup(
        name: "Look after the cache",
        subcommands: [
          Setup.self, Groups.self, Accounts.self, List.self, Show.self, Clear.self, Import.self, Export.self,
          Sources.self, Adopt.self, Copy.self, Rekey.self, Doctor.self, Scheme.self,
        ]),
    ])
}
