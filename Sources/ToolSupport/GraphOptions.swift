package import ArgumentParser

package struct MeOptions: ParsableArguments {
  package static let configuration = CommandConfiguration(
    commandName: "me",
    abstract: "Ask Microsoft Graph who is signed in.",
    discussion: """
      Example:
        llavero me --select displayName,mail

      JSON: the user with Graph's own names, such as id, displayName, mail and userPrincipalName.
      """)

  @OptionGroup package var client: ClientOptions
  @OptionGroup package var account: AccountOptions
  @OptionGroup package var broker: BrokerOptions
  @OptionGroup package var output: OutputOptions
  @OptionGroup package var selection: SelectOptions

  package init() {}
}

package struct GetOptions: ParsableArguments {
  package static let configuration = CommandConfiguration(
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
  package var path: String

  @OptionGroup package var client: ClientOptions
  @OptionGroup package var account: AccountOptions
  @OptionGroup package var broker: BrokerOptions
  @OptionGroup package var scope: ScopeOptions
  @OptionGroup package var selection: SelectOptions

  package init() {}
}

/// Which properties to ask for.
package struct SelectOptions: ParsableArguments {
  @Option(name: .customLong("select"), help: "The properties to get, separated by commas.")
  package var named: String?

  package init() {}

  package var names: [String] { (named ?? "").split(separator: ",").map(String.init) }
}
