import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import GLibSupport
import IdentityBroker
import IdentityClient
import Lending
import TokenCache

struct AppOptions: ParsableArguments {
  @Option(help: ArgumentHelp(.client, "id"), transform: Setting.client.checked)
  var client: String?

  @Option(help: ArgumentHelp(.authority, "url"), transform: Setting.authority.checked)
  var authority: String?

  @Option(help: ArgumentHelp(.tenant, "tenant"), transform: Setting.tenant.checked)
  var tenant: String?
}

/// An option of the commands that work with borrowed tokens.
struct LenderOptions: ParsableArguments {
  @Option(
    name: .customLong("from"), help: ArgumentHelp(.origin, "unix:PATH|off"), transform: TokenOrigin.init(_:))
  var origin: TokenOrigin?
}

protocol ClientCommand: GroupCommand {
  var appOptions: AppOptions { get }
  /// Whether tokens are borrowed, where the command line says so.
  var origin: TokenOrigin? { get }
}

/// A command that works with borrowed tokens, too.
protocol Borrows: ClientCommand {
  var lenderOptions: LenderOptions { get }
}

extension Borrows {
  var origin: TokenOrigin? { lenderOptions.origin }
}

extension ClientCommand {
  var origin: TokenOrigin? { nil }

  var store: StoreOptions {
    var store = storeOptions
    store.origin = origin
    return store
  }

  /// The client id; an error of code `usage` when nothing names one.
  var clientID: String {
    get throws(Failure) {
      if let id = appOptions.client ?? Settings.current.clientID { return id }
      throw Failure(
        "no_client", "No client ID set.", code: .usage,
        advice: "Add --client, or set LLAVERO_CLIENT_ID or \"client\" in the configuration: "
          + "llavero setup --client YOUR-APP-ID")
    }
  }

  /// The authority to ask; an error of code `usage` for an address that is not an authority's.
  var namedAuthority: Authority {
    get throws(Failure) {
      var authority = Authority.default
      do throws(IdentityError) {
        if let address = appOptions.authority ?? Settings.current.authority {
          authority = try Authority(address)
        }
        // A configured tenant is one of the configured authority, not of any that the command line names.
        if let tenant = appOptions.tenant ?? (appOptions.authority == nil ? Settings.current.tenant : nil) {
          authority = try authority.replacingTenant(with: tenant)
        }
        return authority
      } catch {
        throw Failure(
          "invalid_authority", error.message, code: .usage,
          advice: "An authority is an address such as https://login.microsoftonline.com/contoso.com.")
      }
    }
  }

  /// The client that the options describe, which asks only the cache and the broker. Its tokens are good for
  /// `minimumValidity` seconds at least.
  func publicClient(
    minimumValidity: Double? = nil, broker: BrokerPolicy, cache opened: TokenCacheAccessor? = nil
  ) throws -> PublicClient {
    try PublicClient(
      configuration: configuration(minimumValidity: minimumValidity, broker: broker), cache: opened ?? cache,
      broker: broker.broker, logger: DiagnosticLog.logger)
  }

  /// The client that the options describe, with the network and a browser. `opened` is the cache, where it is open
  /// already: its passphrase is not asked for twice.
  func networkClient(
    minimumValidity: Double? = nil, broker: BrokerPolicy, cache opened: TokenCacheAccessor? = nil,
    browser: any WebAuthenticator = BrowserAuthenticator.here(), redirectURI: URL? = nil
  ) throws -> PublicClient {
    var configuration = try configuration(minimumValidity: minimumValidity, broker: broker)
    configuration.redirectURI = redirectURI
    return try PublicClient(
      configuration: configuration, cache: opened ?? cache, transport: Network.transport(),
      authenticator: browser, broker: broker.broker, logger: DiagnosticLog.logger)
  }

  /// The client for borrowed tokens. The lender says which client and authority they are of. What the environment
  /// and the configuration say of these is about a sign-in of this machine's own; what the command line says has to be
  /// so.
  func borrowingClient(
    of lender: LoanBroker, minimumValidity: Double? = nil
  ) async throws -> (client: PublicClient, terms: Loan) {
    let named = appOptions.authority == nil ? nil : try namedAuthority
    let terms = try await lender.terms()
    if let client = appOptions.client, client.lowercased() != terms.clientID.lowercased() {
      throw IdentityError(
        .invalidParameter, "The tokens that are lent are those of the client \(terms.clientID).",
        advice: "Leave out --client.")
    }
    if let named, named.host != terms.authority.host || named.kind != .aad && named != terms.authority {
      throw IdentityError(
        .invalidParameter, "The tokens that are lent are issued by \(terms.authority).",
        advice: "Leave out --authority.")
    }
    var authority = terms.authority
    // Another tenant is refused where the token is asked for.
    if let named, !named.namesManyTenants {
      authority = named
    } else if let tenant = appOptions.tenant {
      authority = try authority.replacingTenant(with: tenant)
    }
    var configuration = ClientConfiguration(clientID: terms.clientID, authority: authority)
    configuration.brokerPolicy = .required
    if let minimumValidity { configuration.tokenExpirationBuffer = minimumValidity }
    let nothing = TokenCacheAccessor(store: InMemoryStore(), group: group)
    let client = PublicClient(
      configuration: configuration, cache: nothing, broker: lender.knowing(terms),
      logger: DiagnosticLog.logger)
    return (client, terms)
  }

  private func configuration(
    minimumValidity: Double?, broker: BrokerPolicy
  ) throws(Failure) -> ClientConfiguration {
    try store.requireStore()
    let authority = try namedAuthority
    var configuration = ClientConfiguration(clientID: try clientID, authority: authority)
    // An authority outside of the known clouds is trusted only because the person named it.
    configuration.knownAuthorities = [authority]
    configuration.httpTimeout = .seconds(60)
    configuration.brokerPolicy = broker
    configuration.applicationName = "llavero"
    configuration.applicationVersion = Library.version
    if let minimumValidity { configuration.tokenExpirationBuffer = minimumValidity }
    return configuration
  }
}

struct AccountOptions: ParsableArguments {
  @Option(help: ArgumentHelp(.account, "name"), completion: .accounts, transform: Setting.account.checked)
  var account: String?

  var named: String? { account ?? Settings.current.account }
}

struct ClaimsOption: ParsableArguments {
  @Option(
    name: .customLong("claims"),
    help: ArgumentHelp(
      "The claims that a resource or the server asks for, in JSON or base64.", valueName: "claims"),
    transform: ClaimsRequest.init(argument:))
  var named: ClaimsRequest?
}

struct ScopeOptions: ParsableArguments {
  @Option(
    name: .customLong("scope"), help: ArgumentHelp(.scope, "scope"), transform: Setting.scope.checked)
  var named: [String] = []

  /// What the command line says.
  var namedScopes: [String] { named.flatMap(ScopeSet.list) }

  var scopes: [String] {
    let scopes = named.isEmpty ? Settings.current.scopes ?? [] : namedScopes
    return scopes.isEmpty ? ["User.Read"] : scopes
  }
}

/// A command for which a person may have to sign in before.
protocol SignsIn: ClientCommand {
  var account: AccountOptions { get }
  var broker: BrokerOptions { get }
  /// What the sign-in has to be for; empty where what the settings say will do.
  var signInScopes: [String] { get }
  /// The claims that the token has to have, where the command line names them.
  var claims: ClaimsRequest? { get }
}

extension SignsIn {
  var signInScopes: [String] { [] }
  var claims: ClaimsRequest? { nil }

  /// The client that gets tokens: of the lender where they are borrowed, else of the cache, the broker and the network.
  func tokenClient(
    minimumValidity: Double? = nil, cache opened: TokenCacheAccessor? = nil
  ) async throws -> PublicClient {
    if let lender = try store.lender {
      return try await borrowingClient(of: lender, minimumValidity: minimumValidity).client
    }
    return try networkClient(minimumValidity: minimumValidity, broker: broker.policy, cache: opened)
  }

  /// What to do where a sign-in is needed, perhaps with the claims that the server asks for: the command, as a shell takes it.
  /// What the environment and the configuration say holds for that one, too. A borrower cannot sign in here.
  var signInAdvice: @Sendable (_ asked: ClaimsRequest?) -> String {
    if store.socket != nil { return { _ in LoanBroker.signInAdvice } }
    let options = [
      ("client", appOptions.client), ("authority", appOptions.authority), ("tenant", appOptions.tenant),
      ("group", groupOption.named?.name), ("broker", broker.named?.rawValue),
    ].compactMap { name, value in value.map { ["--" + name, $0] } }
    let scopes = signInScopes.map { ["--scope", $0] }
    // Only a user name can be proposed to the browser.
    let name = account.named.flatMap { $0.contains("@") ? ["--account", $0] : nil } ?? []
    let words = ["login"] + (options + scopes).flatMap(\.self) + name
    return { [store, claims] asked in
      let claims = (asked ?? claims)?.argument.map { ["--claims", $0] } ?? []
      return "Sign in with \"\(store.command(words + claims))\"."
    }
  }
}

/// Whether the machine's identity broker is asked for tokens.
struct BrokerOptions: ParsableArguments {
  @Option(
    name: .customLong("broker"), help: ArgumentHelp(.broker, "auto|off|only"),
    completion: .list(BrokerPolicy.allCases.map(\.rawValue)),
    transform: BrokerPolicy.init(argument:))
  var named: BrokerPolicy?

  var policy: BrokerPolicy { named ?? Settings.current.broker ?? .automatic }
}

extension LinuxBroker {
  /// The session bus's broker, which is not asked for anything yet, and perhaps also after a failure that is remembered.
  static func ofSession(ignoresRecentFailure: Bool = false) -> LinuxBroker {
    #if DEBUG
      // A test waits for no limit, and a busy machine keeps to none.
      if let limit = processEnvironment()["LLAVERO_TEST_BROKER_LIMIT"].flatMap(Int.init) {
        return LinuxBroker(limit: .milliseconds(limit), ignoresRecentFailure: ignoresRecentFailure)
      }
    #endif
    return LinuxBroker(ignoresRecentFailure: ignoresRecentFailure)
  }
}

extension BrokerPolicy {
  /// Whom a client with this policy asks.
  var broker: (any TokenBroker)? { self == .off ? nil : LinuxBroker.ofSession() }
}
