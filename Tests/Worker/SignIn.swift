import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import Glibc
import IdentityClient
import KeyringStore
import Logging
import MSALExtensionsStore
import SoupTransport
import TokenCache
import WorkerSupport

/// `Worker sign-in` signs users in with their tokens in the keyring, for tests with other programs.
///
/// It writes one JSON object per outcome, each on a line, and trusts the file that `LLAVERO_CA_BUNDLE` names.
struct SignIn: AsyncParsableCommand {
  enum Action: String, ExpressibleByArgument, CaseIterable {
    case device, interactive, silent, force, accounts, signout, soak
  }

  @Argument var action: Action

  @Option(help: "The authority's address.", transform: { try address($0) })
  var authority: URL

  @Option var client: String

  @Flag(help: "The authority is an OpenID Connect provider.")
  var oidc = false

  @Option(help: "The scopes, separated by spaces.")
  var scopes = "User.Read"

  @Option(transform: { try KeychainGroup($0) })
  var group = KeychainGroup.default

  @Option(help: "Share a cache of msal-extensions for Python at this location instead of the group.")
  var share: String?

  @Option(help: "The redirect URI, if it is registered with a port.", transform: { try address($0) })
  var redirectURI: URL?

  @Option var loginHint: String?

  @Option(help: "For how many seconds to wait for the browser.")
  var timeout = 60

  @Option(help: "How many silent calls to make at once.")
  var times = 1

  @Flag(help: "Write \"ready\" and begin when a line comes on standard input.")
  var wait = false

  @Flag(help: "Sign out and in now and then in a soak.")
  var signsOut = false

  @Flag(help: "Write the token instead of its hash.")
  var reveal = false

  @Flag(help: "Log everything to standard error.")
  var verbose = false

  func run() async throws {
    let client = try makeClient()
    if wait {
      writeLine("ready")
      _ = readLine()
    }
    do throws(IdentityError) {
      try await perform(with: client)
    } catch {
      report(error)
      throw ExitCode.failure
    }
  }

  private func perform(with client: PublicClient) async throws(IdentityError) {
    switch action {
    case .device:
      report(try await client.acquireToken(DeviceCodeRequest(showing: scopeList)))
    case .interactive:
      var request = InteractiveRequest(scopes: scopeList, loginHint: loginHint)
      request.timeout = .seconds(timeout)
      report(try await client.acquireToken(request))
    case .silent, .force:
      let account = try await account(of: client)
      let request = SilentRequest(scopes: scopeList, account: account, forceRefresh: action == .force)
      let outcomes = await withTaskGroup(of: Result<AuthenticationResult, IdentityError>.self) { group in
        for _ in 0..<times {
          group.addTask {
            do throws(IdentityError) {
              return .success(try await client.acquireTokenSilent(request))
            } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      var errors: [IdentityError] = []
      for outcome in outcomes {
        do throws(IdentityError) { report(try outcome.get()) } catch { errors.append(error) }
      }
      for error in errors.dropLast() { report(error) }
      if let last = errors.last { throw last }
    case .accounts:
      write(json: AccountsFound(accounts: try await client.accounts().map(\.homeAccountID)))
    case .soak:
      await SoakUser(client: client, scopes: scopeList, username: loginHint ?? "", signsOut: signsOut).run()
    case .signout:
      let account = try await account(of: client)
      try await client.signOut(account)
      write(json: AccountsFound(accounts: try await client.accounts().map(\.homeAccountID)))
    }
  }

  private var scopeList: [String] { scopes.split(separator: " ").map(String.init) }

  private func account(of client: PublicClient) async throws(IdentityError) -> Account {
    let accounts = try await client.accounts()
    guard let account = accounts.first(where: { loginHint == nil || $0.username == loginHint }) else {
      throw IdentityError(.interactionRequired, "No account is signed in.")
    }
    return account
  }

  private func makeClient() throws -> PublicClient {
    let named = try oidc ? Authority(url: authority, kind: .oidc) : Authority(url: authority)
    var configuration = ClientConfiguration(
      clientID: client, redirectURI: redirectURI, authority: named, knownAuthorities: [named])
    configuration.logsPersonalData = verbose
    let isVerbose = verbose
    let group = group
    let store: any CacheStore =
      share.map { MSALExtensionsCacheStore(.msalExtensions(location: $0), group: group) }
      ?? KeyringCacheStore()
    return PublicClient(
      configuration: configuration, cache: TokenCacheAccessor(store: store, group: group),
      transport: try SoupHTTPTransport(environment: ProcessInfo.processInfo.environment),
      authenticator: BrowserAuthenticator(),
      logger: Logger(
        label: "Worker",
        factory: { label in
          guard isVerbose else { return SwiftLogNoOpLogHandler() }
          var handler = StreamLogHandler.standardError(label: label)
          handler.logLevel = .trace
          return handler
        }))
  }

  private func report(_ result: AuthenticationResult) {
    write(json: Outcome(result, reveal: reveal))
  }

  private func report(_ error: IdentityError) {
    write(json: Refusal(error))
  }
}

private func address(_ text: String) throws -> URL {
  guard let url = URL(string: text) else { throw ValidationError("Invalid address: \(text).") }
  return url
}
