import ArgumentParser
import Borrowing
import FoundationEssentials
import HTTPTypes
import IdentityClient
import MicrosoftGraph
import TokenCache

struct Me: AsyncParsableCommand {
  static let configuration = MeOptions.configuration

  @OptionGroup var options: MeOptions

  func run() async throws {
    let graph = try await options.client.graph(
      account: options.account, scopes: ["User.Read"], broker: options.broker.policy)
    let user = try await options.client.asking { () async throws(GraphError) in
      try await graph.me(select: options.selection.names)
    }
    if options.output.json { return Terminal.out(try json(user)) }
    for (name, value) in user.properties.sorted(by: { $0.key < $1.key }) {
      let texts = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue) ?? []
      guard !texts.isEmpty else { continue }
      Terminal.out(name.padded(to: 18) + "  " + printable(texts.joined(separator: ", ")))
    }
  }
}

struct Get: AsyncParsableCommand {
  static let configuration = GetOptions.configuration

  /// How much of a file is taken, in bytes: more than Outlook's largest attachments.
  private static let maximumSize = 256 << 20

  @OptionGroup var options: GetOptions

  func run() async throws {
    let graph = try await options.client.graph(
      account: options.account, scopes: options.scope.scopes, broker: options.broker.policy)
    let names = options.selection.names
    var request = GraphRequest(
      options.path, query: names.isEmpty ? [:] : ["$select": names.joined(separator: ",")])
    request.maximumResponseSize = Self.maximumSize
    let response = try await options.client.asking { [request] () async throws(GraphError) in
      try await graph.send(request)
    }
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

extension ClientOptions {
  /// Graph as the account sees it.
  ///
  /// - Throws: `Failure.Message`, `GraphError`.
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

  /// Asks Graph. Whom it takes for signed out is told where to sign in, which who borrows cannot do here.
  fileprivate func asking<Answer>(
    _ body: () async throws(GraphError) -> Answer
  ) async throws(Failure.Message) -> Answer {
    do throws(GraphError) {
      return try await body()
    } catch {
      let isBorrowed = cache.store.lenderSocket != nil
      throw error.toolMessage(signIn: isBorrowed ? LoanBroker.signInAdvice : GraphError.signInAdvice)
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
  fileprivate static let signInAdvice = "Sign in again with \"llavero login\"."

  var toolMessage: Failure.Message { toolMessage(signIn: Self.signInAdvice) }

  fileprivate func toolMessage(signIn signInAdvice: String) -> Failure.Message {
    if let identityError { return identityError.toolMessage }
    let exitCode: Failure.Code =
      switch code {
      case .invalidRequest, .hostNotAllowed: .usage
      case .claimsChallenge, .unauthorized: .interactionRequired
      case .network, .throttled, .serviceUnavailable: .network
      case .cancelled: .cancelled
      default: .error
      }
    let details = [graphCode, requestID.map { "request \($0)" }].compactMap { $0 }
    let suffix = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
    return Failure.Message(
      code: exitCode, name: code.rawValue, message: message + suffix,
      advice: exitCode == .interactionRequired ? signInAdvice : advice)
  }
}
