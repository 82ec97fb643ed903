import ArgumentParser
import FoundationEssentials
import IdentityClient
import TokenCache

struct Token: AsyncParsableCommand, SignsIn, Borrows {
  static let configuration = CommandConfiguration(
    commandName: "token",
    // The parser would look for the option of the root command that prints a completion script.
    _superCommandName: "llavero",
    abstract: "Print an access token, and nothing else.",
    discussion: """
      The token comes from the cache, without any connection, if it is valid for five more minutes; \
      otherwise the machine's identity broker issues one, or it is renewed. The command never asks \
      anyone to sign in: if that is required, the exit code is 3. Only --unlock, passphrase as --key or \
      --etcd-password, and --key portal with a locked keyring prompt. With --broker only, the broker \
      alone is asked, and no keyring is needed.

      A resource that refuses a token may name claims, such as a second factor. With --claims the token is renewed \
      for these; if that needs a sign-in, the error has the command.

      Output: bare (the token), json, header (Authorization: Bearer ...), az and azd (what the Azure SDKs \
      read from these tools), exec-credential (for kubectl).

      Examples:
        header=$(llavero token --output header) &&
          printf %s "$header" | curl --header @- https://graph.microsoft.com/v1.0/me
        llavero token --scope https://management.azure.com/.default \\
          --tenant contoso.com --min-validity 10m

      JSON: access_token, token_type, expires_on, scopes, home_account_id, username, environment, tenant_id, \
      warnings.
      """)

  @Option(
    name: .customLong("min-validity"),
    help: ArgumentHelp(
      "How long the token must be valid, such as 10m or 2h. (default: 5m)", valueName: "duration"),
    transform: Validity.init(_:))
  var minimumValidity: Validity?

  @Flag(name: .customLong("force-refresh"), help: "Get a new token even if a cached one is valid.")
  var forcesRefresh = false

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp("The form of the output. (default: bare)", valueName: "format"))
  var format: TokenFormat?

  /// The stand-in that runs the command. It says in the words for the Azure SDKs that no account is signed in.
  @Option(help: .hidden)
  var standIn: ShimProgram?

  @Option(help: .hidden)
  var query: AzureQuery?

  @Flag(help: .hidden)
  var tsv = false

  @OptionGroup var account: AccountOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var claimsOption: ClaimsOption
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup(title: "Client options") var lenderOptions: LenderOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  var signInScopes: [String] { scope.namedScopes }
  var claims: ClaimsRequest? { claimsOption.named }

  func validate() throws {
    guard !output.json || format == nil || format == .json else {
      throw ValidationError("--json and --output exclude each other.")
    }
  }

  func run() async throws {
    let result = try await token(
      minimumValidity: minimumValidity?.seconds, scopes: scope.scopes, forceRefresh: forcesRefresh)
    if let minimumValidity, let end = result.expiresOn, end < Date() + minimumValidity.seconds {
      throw Failure(
        "short_lived", "No token is valid for that long.",
        advice: "Ask for less with --min-validity, or try again later.")
    }
    if let query { return Terminal.out(try query.text(of: result, isTSV: tsv)) }
    Terminal.out(try (output.json ? .json : format ?? .bare).text(of: result))
  }
}

/// A span of time on the command line: a number with the unit s, m or h.
struct Validity: Sendable {
  let seconds: Double

  init(_ text: String) throws {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
    guard let unit = text.last.flatMap({ units[$0] }), let number = UInt32(text.dropLast()) else {
      throw ValidationError("expected a number with s, m or h, such as 10m")
    }
    seconds = Double(number) * unit
  }
}

extension SignsIn {
  /// Returns a token: borrowed, from the cache, or renewed. It is valid for at least `minimumValidity` seconds; with
  /// `forceRefresh` the cached one is not used.
  func token(
    minimumValidity: Double? = nil, scopes: [String], forceRefresh: Bool = false
  ) async throws -> AuthenticationResult {
    // With --json the warning is in the result.
    let printsWarning = !Failure.wantsJSON
    func request(to client: PublicClient) async throws -> SilentRequest {
      SilentRequest(
        scopes: scopes, account: try await client.account(named: account.named), forceRefresh: forceRefresh,
        claims: claims)
    }
    guard store.socket == nil else {
      let client = try await tokenClient(minimumValidity: minimumValidity)
      return try await client.token(request(to: client), printsWarning: printsWarning)
    }
    // HTTP is not set up yet, which takes longer than everything else.
    let local = try publicClient(minimumValidity: minimumValidity, broker: broker.policy)
    let request = try await request(to: local)
    if broker.policy == .required { return try await local.acquireTokenSilent(request) }
    if let result = try await local.acquireTokenFromCache(request) { return result }
    let client = try networkClient(
      minimumValidity: minimumValidity, broker: broker.policy, cache: local.cache)
    return try await client.token(request, printsWarning: printsWarning)
  }
}

extension AuthenticationResult {
  /// What to say of a new token that could not be stored; `nil` if it was.
  var storageWarning: String? { cacheError.map { "The new token could not be stored: \($0)" } }
}

extension PublicClient {
  /// Gets a token and, unless told otherwise, prints a warning if it could not be stored. A cancelled call waits for
  /// renewals under way: the server may have replaced the refresh token.
  func token(
    _ request: SilentRequest, printsWarning: Bool = true
  ) async throws(IdentityError) -> AuthenticationResult {
    do throws(IdentityError) {
      let result = try await acquireTokenSilent(request)
      if printsWarning, let warning = result.storageWarning { Terminal.warn(warning) }
      return result
    } catch {
      await awaitRenewals()
      throw error
    }
  }

  /// Waits for renewals under way, and reports that on a terminal: a slow server may take half a minute.
  func awaitRenewals() async {
    if isRenewing, Terminal.errors.isTerminal {
      Terminal.note(
        "Waiting for the token server, which may have replaced the refresh token. Ctrl-C ends this at once.")
    }
    await finishRenewals()
  }
}
