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

/// The option of commands that support borrowed tokens.
struct LenderOptions: ParsableArguments {
  @Option(
    name: .customLong("from"), help: ArgumentHelp(.origin, "unix:PATH|off"), transform: TokenOrigin.init(_:))
  var origin: TokenOrigin?
}

protocol ClientCommand: GroupCommand {
  var appOptions: AppOptions { get }
  /// Whether tokens are borrowed, if the command line sets that.
  var origin: TokenOrigin? { get }
}

/// A command that supports borrowed tokens.
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

  /// The client ID. Throws an error of code `usage` if none is set.
  var clientID: String {
    get throws(Failure) {
      if let id = appOptions.client ?? Settings.current.clientID { return id }
      throw Failure(
        "no_client", "No client ID set.", code: .usage,
        advice: "Add --client, or set LLAVERO_CLIENT_ID or \"client\" in the configuration: "
          + "llavero setup --client YOUR-APP-ID")
    }
  }

  /// The authority. Throws an error of code `usage` for an invalid address.
  var namedAuthority: Authority {
    get throws(Failure) {
      do throws(IdentityError) {
        return try Settings.current.signInAuthority(appOptions.authority, tenant: appOptions.tenant)
      } catch {
        throw Failure(
          "invalid_authority", error.message, code: .usage,
          advice: "An authority is an address such as https://login.microsoftonline.com/contoso.com.")
      }
    }
  }

  /// Returns a client for the options that uses only the cache and the broker. Its tokens are valid for at least
  /// `minimumValidity` seconds.
  func publicClient(
    minimumValidity: Double? = nil, broker: BrokerPolicy, cache opened: TokenCacheAccessor? = nil
  ) throws -> PublicClient {
    try PublicClient(
      configuration: configuration(minimumValidity: minimumValidity, broker: broker), cache: opened ?? cache,
      broker: broker.broker, logger: DiagnosticLog.logger)
  }

  /// Returns a client for the options with the network and a browser. `opened` is the cache if it is open already, so
  /// that its passphrase is not asked for twice.
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

  /// Returns the client for borrowed tokens. The lender determines client ID and authority. Those of the environment
  /// and the configuration are for this machine's own sign-ins and ignored; those of the command line must match.
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
    // Another tenant is rejected when the token is requested.
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
    var configuration = ClientConfiguration(
      program: "llavero", clientID: try clientID, authority: authority, trusting: authority)
    configuration.brokerPolicy = broker
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

  /// The options of the command line.
  var namedScopes: [String] { named.flatMap(ScopeSet.list) }

  var scopes: [String] {
    let scopes = namedScopes
    return scopes.isEmpty ? Settings.current.signInScopes : scopes
  }
}

/// A command that may require a sign-in.
protocol SignsIn: ClientCommand {
  var account: AccountOptions { get }
  var broker: BrokerOptions { get }
  /// The scopes that the sign-in needs; empty if those of the settings suffice.
  var signInScopes: [String] { get }
  /// The claims that the token must have, if the command line sets them.
  var claims: ClaimsRequest? { get }
}

extension SignsIn {
  var signInScopes: [String] { [] }
  var claims: ClaimsRequest? { nil }

  /// Returns the client that gets tokens: from the lender if they are borrowed, else from the cache, the broker and the
  /// network.
  func tokenClient(minimumValidity: Double? = nil) async throws -> PublicClient {
    if let lender = try store.lender {
      return try await borrowingClient(of: lender, minimumValidity: minimumValidity).client
    }
    return try networkClient(minimumValidity: minimumValidity, broker: broker.policy)
  }

  /// The advice if a sign-in is required, with the server's claims: the command, quoted for a shell. It omits what the
  /// environment and the configuration set. A borrower cannot sign in here.
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
