import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import IdentityClient
import TokenCache

struct Login: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign in, in a browser here or where you sit, or by a code on another device.",
    discussion: """
      Opens the browser that BROWSER names, else the desktop's. Where there is no display, as over SSH, or with \
      --no-browser, it shows the address of the page instead, for a browser where you sit. The answer comes \
      back through the tunnel that the shown "ssh -L" makes, or you let the browser's last page fail and \
      paste its address into the terminal, which does not show it. It waits for 15 minutes. Many organisations \
      refuse the device code, so that it is taken only with --device-code. The tokens go into the keyring. \
      On a machine with Microsoft's identity broker that shows a window of its own, where there is a display; \
      --broker off does without it.

      Examples:
        llavero login --client 11111111-2222-4333-8444-555555555555
        llavero login --no-browser --port 8400
        llavero login --device-code --tenant contoso.com --scope Mail.Read --scope Files.Read

      JSON: group, client_id, home_account_id, username, tenant_id, scopes, expires_on.
      """)

  private struct Result: Encodable {
    let group: String
    let clientId: String
    let homeAccountId: String
    let username: String?
    let tenantId: String?
    let scopes: [String]
    let expiresOn: Date?
  }

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions

  @Option(help: "The user name to propose; the browser asks which account unless one is given.")
  var account: String?

  @Option(
    help: "The port of this machine that the browser's answer comes to; any free one unless it is given.",
    transform: { text in
      guard let number = UInt16(text), number > 0 else {
        throw ValidationError("It should be a number from 1 to 65535.")
      }
      return number
    })
  var port: UInt16?

  @Flag(name: .customLong("no-browser"), help: "Show the page's address, for a browser where you sit.")
  var showsAddress = false

  @Flag(name: .customLong("device-code"), help: "Sign in by a code that you enter on another device.")
  var usesDeviceCode = false

  func validate() throws {
    let ways = [
      (usesDeviceCode, "--device-code"), (showsAddress, "--no-browser"), (port != nil, "--port"),
    ].filter(\.0).map(\.1)
    if usesDeviceCode, ways.count > 1 {
      throw ValidationError("A device code comes without a browser: leave out --device-code or \(ways[1]).")
    }
    if let way = ways.first, broker.policy == .required {
      throw ValidationError("The broker knows no \(way): leave that out, or add --broker auto.")
    }
  }

  func run() async throws {
    let policy = broker.policy
    // Without a display the broker could show no window either.
    let isElsewhere = policy != .required && (showsAddress || !SystemBrowser().isAvailable)
    let client = try client.networkClient(
      broker: isElsewhere ? .off : policy,
      browser: isElsewhere ? BrowserElsewhere(port: port) : BrowserAuthenticator.here(port: port))
    // The broker keeps what it gives, so that alone no store is needed.
    if policy != .required { try await checkStore(of: client) }
    let result = try await signIn(to: client, isElsewhere: isElsewhere)
    if policy != .required, let error = result.cacheError { throw error }
    if output.json {
      let report = Result(
        group: client.cache.group.name, clientId: client.configuration.clientID,
        homeAccountId: result.account.homeAccountID, username: result.account.username,
        tenantId: result.tenantID, scopes: result.scopes, expiresOn: result.expiresOn)
      return Terminal.out(try json(report))
    }
    let name = result.account.username ?? result.account.homeAccountID
    Terminal.out(printable("Signed in as \(name), for \(result.scopes.joined(separator: " "))."))
  }

  /// A store that is locked, or of which a part cannot be read, is reported before the person signs in, not after.
  private func checkStore(of client: PublicClient) async throws {
    let snapshot = try await client.cache.snapshot()
    let known = try snapshot.accounts(named: account, of: client.configuration.clientID)
    if account == nil || known.isEmpty { try snapshot.checkComplete() }
    try await client.cache.prepareStore()
  }

  private func signIn(
    to client: PublicClient, isElsewhere: Bool
  ) async throws(IdentityError) -> AuthenticationResult {
    if usesDeviceCode {
      return try await client.acquireToken(
        DeviceCodeRequest(scopes: scope.scopes) { Terminal.error(printable($0.message)) })
    }
    var request = InteractiveRequest(
      scopes: scope.scopes, loginHint: account,
      prompt: account == nil ? .selectAccount : .promptIfNecessary)
    if isElsewhere { request.timeout = BrowserElsewhere.patience }
    return try await client.acquireToken(request)
  }
}
