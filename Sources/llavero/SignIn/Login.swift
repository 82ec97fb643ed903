import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import HTTPSupport
import IdentityClient
import TokenCache

struct Login: AsyncParsableCommand, ClientCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign in with a browser or a device code.",
    discussion: """
      Opens the browser that BROWSER names, else the desktop's. Without a display, as over SSH, or with \
      --no-browser, it shows the page's address instead, for a browser on the machine where you sit. The \
      response comes back through the tunnel of the "ssh -L" that it shows. Or paste the address of the \
      browser's last page, which fails to load, into the terminal; it is not shown. A sign-in in the \
      browser times out after five minutes, or 15 where the address is shown. Many organisations block \
      device codes, so that one is used only with --device-code. \
      With --account, only that account, which has to be signed in before, may use the code. \
      The tokens are stored in the group of the store. With Microsoft's identity broker and a display, the \
      broker shows its own window; --broker off, --port and --redirect-uri prevent that.

      Examples:
        llavero login --client 11111111-2222-4333-8444-555555555555
        llavero login --no-browser --port 8400
        llavero login --redirect-uri http://localhost:8400/auth
        llavero login --device-code --tenant contoso.com --scope Mail.Read

      JSON: group, client_id, home_account_id, username, environment, tenant_id, scopes, expires_on.
      """)

  @Option(
    help: ArgumentHelp("The user name to propose to the browser.", valueName: "name"), completion: .accounts,
    transform: Setting.account.checked)
  var account: String?

  @Flag(name: .customLong("no-browser"), help: "Show the page's address for a browser elsewhere.")
  var showsAddress = false

  @Option(
    help: ArgumentHelp(
      "The port for the browser's response. (default: any free one)", valueName: "number"))
  var port: UInt16?

  @Option(
    name: .customLong("redirect-uri"),
    help: ArgumentHelp(
      "The redirect URI of the app's registration. (default: http://localhost)", valueName: "uri"),
    transform: Self.checkedURI)
  var redirectURI: URL?

  @Flag(name: .customLong("device-code"), help: "Sign in with a code that you enter on another device.")
  var usesDeviceCode = false

  @OptionGroup var scope: ScopeOptions
  @OptionGroup var claims: ClaimsOption
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  func validate() throws {
    let ways = [
      (usesDeviceCode, "--device-code"), (showsAddress, "--no-browser"), (port != nil, "--port"),
      (redirectURI != nil, "--redirect-uri"),
    ].filter(\.0).map(\.1)
    if usesDeviceCode, ways.count > 1 {
      throw ValidationError("--device-code uses no browser: leave it out, or \(ways[1]).")
    }
    guard port != 0 else { throw ValidationError("Invalid --port: expected a number from 1 to 65535.") }
    if port != nil, redirectURI != nil {
      throw ValidationError("--port and --redirect-uri exclude each other: the URI names the port.")
    }
    if let way = ways.first, broker.policy == .required {
      throw ValidationError("The broker does not support \(way): leave it out, or add --broker auto.")
    }
  }

  /// A redirect URI that this machine can get a response at.
  private static func checkedURI(_ text: String) throws -> URL {
    if let url = URL(string: text), url.scheme != nil {
      let isLoopback =
        url.scheme == "http" && url.host.flatMap { LoopbackHost($0) }?.isListenedOn == true
      if isLoopback || url.isOwnScheme && OwnScheme(argument: text)?.isReserved == false { return url }
    }
    throw ValidationError(
      "expected an address such as http://localhost:8400/auth or msauth.com.example.mail://auth.")
  }

  func run() async throws {
    let policy = broker.policy
    // Without a display the broker could show no window either.
    let isRemote = policy != .required && (showsAddress || !SystemBrowser().isAvailable)
    // The response to these can only come from a browser.
    let wantsBrowser = port != nil || redirectURI != nil
    let client = try networkClient(
      broker: isRemote || wantsBrowser ? .off : policy,
      browser: isRemote ? RemoteBrowser(port: port) : BrowserAuthenticator.here(port: port),
      redirectURI: redirectURI)
    // The broker stores the tokens that it issues: with it alone no store is needed.
    let known = try await policy == .required ? [] : checkStore(of: client)
    let result = try await signIn(to: client, isRemote: isRemote, onDevice: deviceAccount(among: known))
    if policy != .required, let error = result.cacheError { throw error }
    if output.json {
      let client: Members = [
        "group": client.cache.group.name, "client_id": client.configuration.clientID,
      ]
      return try Terminal.out(client + result.members)
    }
    let name = result.account.username ?? result.account.homeAccountID
    Terminal.out(printable("Signed in as \(name), for \(result.scopes.joined(separator: " "))."))
  }

  /// Reports a locked store, or an unreadable part of it, before the person signs in. Returns the accounts that are signed
  /// in, with --account those of that name.
  private func checkStore(of client: PublicClient) async throws -> [Account] {
    let snapshot = try await client.cache.snapshot()
    let known = try snapshot.accounts(named: account, of: client.configuration.clientID)
    if account == nil { try snapshot.checkComplete() }
    try await client.cache.prepareStore()
    return known
  }

  /// The account that alone may use a device code; `nil` for any. The server proposes none there.
  private func deviceAccount(among known: [Account]) throws(Failure) -> Account? {
    guard usesDeviceCode, let account else { return nil }
    guard !known.isEmpty else {
      throw Failure(
        "unknown_account", "--device-code can propose no account, and \(account) is not signed in.",
        code: .usage, advice: "Leave out --account.")
    }
    return try known.only(named: account, in: nil)
  }

  private func signIn(
    to client: PublicClient, isRemote: Bool, onDevice expected: Account?
  ) async throws(IdentityError) -> AuthenticationResult {
    if usesDeviceCode {
      var request = DeviceCodeRequest(scopes: scope.scopes) { Terminal.error(printable($0.message)) }
      request.account = expected
      request.claims = claims.named
      return try await client.acquireToken(request)
    }
    var request = InteractiveRequest(
      scopes: scope.scopes, loginHint: account,
      prompt: account == nil ? .selectAccount : .promptIfNecessary, claims: claims.named)
    if isRemote { request.timeout = RemoteBrowser.timeout }
    return try await client.acquireToken(request)
  }
}
