import ArgumentParser
import FoundationEssentials
import HTTPTypes
import IdentityClient
import Lending
import MicrosoftGraph
import TokenCache

struct Me: AsyncParsableCommand, SignsIn {
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

  var signInScopes: [String] { ["User.Read"] }

  func run() async throws {
    let graph = try await client.graph(account: account, scopes: signInScopes, broker: broker.policy)
    let user = try await graph.me(select: selection.names)
    if output.json { return Terminal.out(try json(user)) }
    for (name, value) in user.properties.sorted(by: { $0.key < $1.key }) {
      let texts = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue) ?? []
      guard !texts.isEmpty else { continue }
      Terminal.out(printable(name).padded(to: 18) + "  " + printable(texts.joined(separator: ", ")))
    }
  }
}

struct Get: AsyncParsableCommand, SignsIn {
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

  /// How much of a file is taken, in bytes: more than Outlook's largest attachments.
  private static let maximumSize = 256 << 20

  @Argument(help: "A path after Graph's version, such as /me/messages, or a whole address.")
  var path: String

  @OptionGroup var client: ClientOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var broker: BrokerOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var selection: SelectOptions

  var signInScopes: [String] { scope.namedScopes }

  func run() async throws {
    let graph = try await client.graph(account: account, scopes: scope.scopes, broker: broker.policy)
    let names = selection.names
    var request = GraphRequest(path, query: names.isEmpty ? [:] : ["$select": names.joined(separator: ",")])
    request.maximumResponseSize = Self.maximumSize
    let response = try await graph.send(request)
    guard Terminal.output.isTerminal else { return Terminal.output.write(Array(response.body)) }
    guard !response.body.isEmpty else { return }
    guard let text = String(validating: response.body, as: UTF8.self) else {
      throw Failure.Message(
        name: "not_text", message: "The answer is no text, so it is not printed on a terminal.",
        advice: "Send it to a file, such as with \"> answer\".")
    }
    let isJSON = response.headers[.contentType]?.contains("json") ?? false
    Terminal.out(isJSON ? printableJSON(text) : printableLines(text))
  }
}

/// Which properties to ask for.
struct SelectOptions: ParsableArguments {
  @Option(name: .customLong("select"), help: "The properties to get, separated by commas.")
  var named: String?

  var names: [String] { (named ?? "").split(separator: ",").map(String.init) }
}

extension ClientOptions {
  /// Graph as the account sees it.
  fileprivate func graph(
    account: AccountOptions, scopes: [String], broker: BrokerPolicy
  ) async throws -> GraphClient {
    let client = try await tokenClient(broker: broker)
    let cloud = try graphCloud(for: client.configuration.authority)
    let account = try await client.account(named: account.named)
    return GraphClient(transport: try Network.transport(), cloud: cloud) { claims throws(IdentityError) in
      try await client.token(SilentRequest(scopes: scopes, account: account, claims: claims))
    }
  }

  private func graphCloud(for authority: Authority) throws -> GraphCloud {
    if let address = Settings.current.graphURL {
      guard let url = URL(string: address) else {
        throw GraphError(.invalidRequest, "\(address) is no address.")
      }
      return try GraphCloud(baseURL: url)
    }
    guard let cloud = GraphCloud.cloud(for: authority) else {
      throw Failure.Message(
        code: .usage, name: "no_graph", message: "There is no Microsoft Graph for \(authority).",
        advice: "LLAVERO_GRAPH_URL names one, such as https://graph.microsoft.com/v1.0.")
    }
    return cloud
  }
}

extension GraphError: ToolError {
  var toolMessage: Failure.Message {
    if let identityError { return identityError.toolMessage }
    let exitCode: Failure.Code =
      switch code {
      case .invalidRequest, .hostNotAllowed: .usage
      case .claimsChallenge, .unauthorized: .interactionRequired
      case .network, .throttled, .serviceUnavailable: .network
      case .cancelled: .cancelled
      default: .error
      }
    let details = [graphCode, requestID.map { "request \($0)" }].compactMap(\.self)
    let suffix = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
    guard exitCode == .interactionRequired else {
      return Failure.Message(code: exitCode, name: code.rawValue, message: message + suffix, advice: advice)
    }
    return Failure.Message(
      code: exitCode, name: code.rawValue, message: message + suffix, needsSignIn: true)
  }
}
