import ArgumentParser

struct MeOptions: ParsableArguments {
  static let configuration = CommandConfiguration(
    commandName: "me",
    abstract: "Ask Microsoft Graph who is signed in.",
    discussion: """
      Example:
        llavero me --select displayName,mail

      JSON: the user with Graph's own names, such as id, displayName, mail and userPrincipalName.
      """)

  @OptionGroup var client: ClientOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var selection: SelectOptions
}

struct GetOptions: ParsableArguments {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Get anything from Microsoft Graph, and print it as it comes.",
    discussion: """
      The token goes to Graph's own host only; LLAVERO_GRAPH_URL names another. What could drive a terminal \
      is not printed on one.

      Examples:
        llavero get /me/messages --scope Mail.Read --select subject,from
        llavero get '/me/photo/$value' > me.jpg
      """)

  @Argument(help: "A path after Graph's version, such as /me/messages, or a whole address.")
  var path: String

  @OptionGroup var client: ClientOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var broker: BrokerOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var selection: SelectOptions
}

/// Which properties to ask for.
struct SelectOptions: ParsableArguments {
  @Option(name: .customLong("select"), help: "The properties to get, separated by commas.")
  var named: String?

  var names: [String] { (named ?? "").split(separator: ",").map(String.init) }
}
