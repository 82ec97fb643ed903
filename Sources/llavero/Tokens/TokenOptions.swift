import ArgumentParser
import FoundationEssentials
import GLibSupport
import IdentityClient

struct TokenOptions: ParsableArguments {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Print an access token, and nothing else.",
    discussion: """
      The token comes from the cache, without any connection, as long as it is good for five minutes; \
      otherwise the machine's identity broker gives one, or it is renewed. Nobody is asked to sign in: that is \
      exit code 3. With --broker only nobody but the broker is asked, and no keyring is needed.

      Output: bare (the token), json, header (Authorization: Bearer ...), az and azd (what the Azure SDKs \
      read from these tools), exec-credential (for kubectl).

      Examples:
        curl --header @<(llavero token --output header) https://graph.microsoft.com/v1.0/me
        llavero token --scope https://management.azure.com/.default --tenant contoso.com --min-validity 10m

      JSON: access_token, token_type, expires_on, scopes, home_account_id, username, tenant_id.
      """)

  @OptionGroup var client: ClientOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var scope: ScopeOptions
  @OptionGroup var broker: BrokerOptions

  @Option(
    name: .customLong("min-validity"),
    help: "For how long the token must be good, such as 90s, 10m or 2h; 5m unless told otherwise.")
  var minimumValidity: Validity?

  @Flag(name: .customLong("force-refresh"), help: "Get a new token although there is a good one.")
  var forcesRefresh = false

  @Option(name: .customLong("output"), help: "The form of the output.")
  var format: TokenFormat?

  @Flag(name: .customLong("json"), help: "The same as --output json; errors are JSON too.")
  var json = false

  func validate() throws {
    guard !json || format == nil || format == .json else {
      throw ValidationError("Give --json or --output, not both.")
    }
  }

  /// What to ask a client for.
  ///
  /// - Throws: `Failure.Message`.
  func request(to client: PublicClient) async throws(Failure.Message) -> SilentRequest {
    SilentRequest(
      scopes: scope.scopes, account: try await client.account(named: account.named),
      forceRefresh: forcesRefresh)
  }

  /// Prints a token.
  ///
  /// - Throws: `Failure.Message`, when it is not good for as long as it must be.
  func print(_ result: AuthenticationResult) throws {
    if let minimumValidity, let end = result.expiresOn, end < Date() + minimumValidity.seconds {
      throw Failure.Message(
        name: "short_lived", message: "No token could be had that is good for that long.",
        advice: "Ask for less with --min-validity, or try again later.")
    }
    let text = try (json ? .json : format ?? .bare).text(
      of: result, environment: processEnvironment())
    Terminal.out(text)
  }
}

/// A span of time on the command line: a number with the unit s, m or h.
struct Validity: ExpressibleByArgument, Sendable {
  let seconds: Double

  init?(argument: String) {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
    guard let unit = argument.last.flatMap({ units[$0] }), let number = UInt32(argument.dropLast()) else {
      return nil
    }
    seconds = Double(number) * unit
  }
}
