import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import IdentityClient
import TokenCache

struct Login: AsyncParsableCommand {
  static let configuration = LoginOptions.configuration

  private struct Result: Encodable {
    let group: String
    let clientId: String
    let homeAccountId: String
    let username: String?
    let tenantId: String?
    let scopes: [String]
    let expiresOn: Date?
  }

  @OptionGroup var options: LoginOptions

  func run() async throws {
    let policy = options.broker.policy
    // Without a display the broker could show no window either.
    let isElsewhere = policy != .required && (options.showsAddress || !SystemBrowser().isAvailable)
    let client =
      isElsewhere
      ? try options.client.networkClient(browser: BrowserElsewhere(port: options.port))
      : try options.client.networkClient(
        broker: policy, browser: BrowserAuthenticator.here(port: options.port))
    // The broker keeps what it gives, so that alone no store is needed.
    if policy != .required { try await checkStore(of: client) }
    let result = try await signIn(to: client, isElsewhere: isElsewhere)
    if policy != .required, let error = result.cacheError { throw error }
    if options.output.json {
      let report = Result(
        group: client.cache.group.name, clientId: client.configuration.clientID,
        homeAccountId: result.account.homeAccountID, username: result.account.username,
        tenantId: result.tenantID, scopes: result.scopes, expiresOn: result.expiresOn)
      return Terminal.out(try json(report))
    }
    let name = result.account.username ?? result.account.homeAccountID
    Terminal.out(printable("Signed in as \(name), for \(result.scopes.joined(separator: " "))."))
  }

  /// A store that is locked, or of which a part cannot be read, is told of before the person signs in, not after.
  private func checkStore(of client: PublicClient) async throws {
    let snapshot = try await client.snapshot()
    let known = try snapshot.accounts(named: options.account, of: client.configuration.clientID)
    if options.account == nil || known.isEmpty { try snapshot.checkAll() }
    try await client.cache.prepareStore()
  }

  private func signIn(
    to client: PublicClient, isElsewhere: Bool
  ) async throws(IdentityError) -> AuthenticationResult {
    if options.usesDeviceCode {
      return try await client.acquireToken(
        DeviceCodeRequest(scopes: options.scope.scopes) { Terminal.error(printable($0.message)) })
    }
    var request = InteractiveRequest(
      scopes: options.scope.scopes, loginHint: options.account,
      prompt: options.account == nil ? .selectAccount : .promptIfNecessary)
    if isElsewhere { request.timeout = BrowserElsewhere.patience }
    return try await client.acquireToken(request)
  }
}
