import ArgumentParser
import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import IdentityClient
import Lending
import MicrosoftGraph
import TokenCache

struct Get: AsyncParsableCommand, SignsIn, Borrows {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Send a GET request to Microsoft Graph.",
    discussion: """
      Prints the response as the server sent it. On a terminal, an object is a table of names and values, and \
      control characters are replaced. The token is sent to Graph's own host only; LLAVERO_GRAPH_URL sets \
      another, and the configuration file does for clouds that are not known.

      With --all it gets all pages of a list and prints the elements: as one JSON array, or with --lines as \
      one JSON object a line. A page that the list names is not requested if it is on another host, not https, \
      or was requested before; that is an error.

      Examples:
        llavero get /me --select displayName,mail
        llavero get /me/messages --scope Mail.Read --query '$top=5'
        llavero get /users --scope User.ReadBasic.All --all --lines
        llavero get '/me/photo/$value' > me.jpg

      JSON: the response with Graph's own names; with --all, an array.
      """)

  /// The limit of a response, in bytes: more than Outlook's largest attachments.
  private static let maximumSize = 256 << 20

  @Argument(help: "A path after Graph's version, such as /me/messages, or a whole address.")
  var path: String

  @Option(help: ArgumentHelp("The properties to get, separated by commas.", valueName: "names"))
  var select: String?

  @Option(
    help: ArgumentHelp(
      "A query parameter, encoded for you; can be repeated.", valueName: "name=value"))
  var query: [NamedValue] = []

  @Flag(help: "Get all pages of a list.")
  var all = false

  @Flag(help: "With --all, print one JSON object a line, page by page.")
  var lines = false

  @OptionGroup var account: AccountOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup(title: "Client options") var lenderOptions: LenderOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  var signInScopes: [String] { scope.namedScopes }

  func validate() throws {
    guard all || !lines else { throw ValidationError("--lines needs --all.") }
    guard properties.isEmpty || !query.contains(where: { $0.name == "$select" }) else {
      throw ValidationError("--select and --query '$select=…' exclude each other.")
    }
  }

  func run() async throws {
    let graph = try await graph(for: scope.scopes)
    var request = GraphRequest(address)
    request.maximumResponseSize = Self.maximumSize
    // So much takes long on a slow line. Ctrl-C ends it.
    request.timeout = .seconds(600)
    if all { return try await printAll(graph.pages(of: request)) }
    let response = try await graph.send(request)
    guard Terminal.output.isTerminal else { return Terminal.output.write(Array(response.body)) }
    guard !response.body.isEmpty else { return }
    guard let text = String(validating: response.body, as: UTF8.self) else {
      throw Failure(
        "not_text", "The response is not text, so it is not printed on a terminal.",
        advice: "Redirect it to a file, such as with \"> response\".")
    }
    let isJSON = response.headers[.contentType]?.contains("json") ?? false
    if isJSON, !output.json, let members = try? response.json().objectValue,
      members["value"]?.arrayValue == nil
    {
      return printTable(of: members)
    }
    let lines = text.replacing("\r\n", with: "\n")
    Terminal.out(isJSON ? printableJSON(lines) : printableLines(lines))
  }

  /// The properties to get, without empty names.
  private var properties: String { (select ?? "").split(separator: ",").joined(separator: ",") }

  /// The path with the query of the options.
  private var address: String {
    var parameters = query
    if !properties.isEmpty { parameters.append(NamedValue(name: "$select", value: properties)) }
    guard !parameters.isEmpty else { return path }
    return path + (path.contains("?") ? "&" : "?") + parameters.map(\.encoded).joined(separator: "&")
  }

  /// Prints the elements of a list. An array is printed only when it is complete.
  private func printAll(_ pages: GraphPages) async throws {
    var elements: [JSONValue] = []
    for try await page in pages {
      guard lines else {
        elements += page.items
        continue
      }
      for element in page.items { Terminal.out(try json(element, names: .useDefaultKeys, layout: [])) }
    }
    if lines { return }
    let objects = elements.compactMap(\.objectValue)
    guard Terminal.output.isTerminal, !output.json, objects.count == elements.count else {
      return Terminal.out(try json(elements, names: .useDefaultKeys))
    }
    for (number, members) in objects.enumerated() {
      if number > 0 { Terminal.out("") }
      printTable(of: members)
    }
  }
}

/// Prints an object's members, without OData's annotations and what is empty, in the order of their names.
func printTable(of members: JSONObject) {
  let rows = members.filter { !$0.key.hasPrefix("@odata.") }.compactMapValues(\.text)
    .sorted { $0.key < $1.key }.map { (name: printable($0.key), text: printable($0.value)) }
  let width = min(max(18, rows.map(\.name.columns).max() ?? 0), 30)
  for row in rows { Terminal.out(row.name.padded(to: width) + "  " + row.text) }
}

extension JSONValue {
  /// The value for people; `nil` for an empty one.
  fileprivate var text: String? {
    switch self {
    case .null: nil
    case .string, .utf16: stringValue
    case .array(let elements):
      elements.isEmpty ? nil : elements.compactMap(\.text).joined(separator: ", ")
    case .bool, .integer, .decimal, .double, .object:
      try? llavero.json(self, names: .useDefaultKeys, layout: [])
    }
  }
}

extension NamedValue {
  /// As a parameter of a query, percent-encoded; a space is not "+", which is one in forms only.
  fileprivate var encoded: String {
    [name, value].map { FormEncoding.encode($0).replacing("+", with: "%20") }.joined(separator: "=")
  }
}

extension SignsIn {
  func graph(for scopes: [String]) async throws -> GraphClient {
    let client = try await tokenClient()
    let cloud = try graphCloud(for: client.configuration.authority)
    let account = try await client.account(named: account.named)
    let retries = GraphRetryPolicy()
    let timing = Timing(
      sleep: { pause in
        defer { Terminal.status("") }
        let (seconds, limit) = (Int(pause / .seconds(1)), Int(retries.maximumWait / .seconds(1)))
        Terminal.status("Microsoft Graph is busy: waiting \(seconds) s, \(limit) s at most in all …")
        try await Task.sleep(for: pause)
      }, uptime: Timing.system.uptime)
    return GraphClient(
      transport: Network.logged(try Network.transport()), cloud: cloud, retries: retries, timing: timing
    ) { claims throws(IdentityError) in
      try await client.token(SilentRequest(scopes: scopes, account: account, claims: claims))
    }
  }

  private func graphCloud(for authority: Authority) throws -> GraphCloud {
    let own = GraphCloud.cloud(for: authority)
    if let address = Settings.current.graphURL {
      guard let url = URL(string: address) else {
        throw GraphError(
          .invalidRequest,
          "Invalid \(Settings.current.place(of: .graphURL)): expected an address, not \(address).")
      }
      let named = try GraphCloud(baseURL: url)
      // What the file says is about the file's authority: a known cloud's tokens go to a Graph of that cloud.
      let isVariable = Settings.current.origin(of: .graphURL)?.isVariable == true
      if own == nil || isVariable || named.serves(authority) { return named }
    }
    guard let cloud = own else {
      throw Failure(
        "no_graph", "There is no Microsoft Graph for \(authority).", code: .usage,
        advice: "Set LLAVERO_GRAPH_URL, such as to https://graph.microsoft.com/v1.0.")
    }
    return cloud
  }
}

extension GraphError: ToolError {
  var asFailure: Failure {
    if let identityError { return identityError.asFailure }
    let exitCode: Failure.Code =
      switch code {
      case .invalidRequest: .usage
      // A response is to blame for a link to another host.
      case .hostNotAllowed: httpStatus == nil ? .usage : .error
      case .claimsChallenge, .unauthorized: .interactionRequired
      case .network, .throttled, .serviceUnavailable: .network
      case .cancelled: .cancelled
      case .cloudMismatch, .authentication, .forbidden, .notFound, .redirected, .requestRefused,
        .responseTooLarge, .invalidResponse:
        .error
      }
    let names = [graphCode, requestID.map { "request \($0)" }].compactMap(\.self)
    var text = names.isEmpty ? message : "\(message) (\(names.joined(separator: ", ")))"
    let reasons = details.prefix(10).compactMap { detail in
      detail.message.map { [detail.target, $0].compactMap(\.self).joined(separator: ": ") }
    }
    if !reasons.isEmpty { text += ": \(reasons.joined(separator: "; "))" }
    let needsSignIn = exitCode == .interactionRequired
    return Failure(
      code.rawValue, text, code: exitCode, advice: needsSignIn ? nil : advice,
      needsSignIn: needsSignIn, claims: claims)
  }
}
