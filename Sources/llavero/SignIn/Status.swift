import ArgumentParser
import FoundationEssentials
import IdentityClient
import Lending
import TokenCache

struct Status: AsyncParsableCommand, SignsIn, Borrows {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show signed-in accounts and token expiry.",
    discussion: """
      Shows the access tokens in the cache and when they expire, never a token. An account that renews, and \
      one of the machine's identity broker, gets new tokens silently. If no account is signed in, the exit \
      code is 3. Of borrowed tokens it shows the account, the scopes and when the loan ends.

      Where no client ID is set, it lists all accounts of the group, of any client, without their tokens.

      Examples:
        llavero status || llavero login
        llavero status --group com.example.mail

      JSON: group, client_id, problems, warnings, accounts: [home_account_id, username, environment, origin \
      (own, broker, both or lender), renews, tokens: [tenant_id, \
      scopes, expires_on, state (as in "llavero list", or lent)]]. Without a \
      client ID: group, problems, accounts: [home_account_id, username, environment, origin (own, broker or \
      both), tenant_profiles: [tenant_id, local_account_id, username, name, is_home_tenant]].
      """)

  /// An account with the tokens that a line of the table is about each.
  private struct Line {
    typealias Token = (tenantID: String?, scopes: [String], end: Date?, state: RecordSummary.State?)

    let account: Account
    let origin: AccountOrigin
    let renews: Bool
    let tokens: [Token]

    /// Whether there is a token, or a refresh token brings one. The tool uses none in its extended lifetime.
    var isSignedIn: Bool { renews || tokens.contains { $0.state == .valid } }

    var members: Members {
      let tokens = tokens.map { Members.token(of: $0.tenantID, for: $0.scopes, until: $0.end, $0.state) }
      return account.members + ["origin": origin, "renews": renews, "tokens": tokens]
    }
  }

  @OptionGroup var account: AccountOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup(title: "Client options") var lenderOptions: LenderOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  func run() async throws {
    if let lender = try store.lender { return try await showLoan(of: lender) }
    // The broker is asked for a client: with it alone, the lack of one is an error.
    guard appOptions.client ?? Settings.current.clientID != nil || broker.policy == .required else {
      return try await AccountList.print(cache, named: account.named, output)
    }
    let client = try publicClient(broker: broker.policy)
    let snapshot = try await client.snapshotIfNeeded()
    let found = try await client.accountsEverywhere(named: account.named, in: snapshot)
    let clientID = client.configuration.clientID
    guard !found.accounts.isEmpty else {
      throw Failure.notSignedIn(account.named, in: snapshot, because: found.brokerFailure)
    }
    let now = Date()
    let tokens = Dictionary(
      grouping: (snapshot?.document ?? CacheDocument()).listed(at: now).map(\.summary).filter {
        $0.type == "AccessToken" && $0.clientId?.lowercased() == clientID.lowercased()
      }, by: { $0.homeAccountId?.lowercased() ?? "" })
    let lines = found.accounts.map { account in
      let request = TokenLookup(
        homeAccountID: account.homeAccountID, environment: account.environment, clientID: clientID)
      let renews = snapshot.map { !$0.refreshTokens(for: request).isEmpty } ?? false
      return Line(
        account: account, origin: AccountOrigin(of: account, renews: renews), renews: renews,
        tokens: (tokens[account.homeAccountID.lowercased()] ?? []).map {
          ($0.realm, ScopeSet.list($0.target ?? ""), $0.expiresOn, $0.state)
        })
    }
    let problems = snapshot?.problems ?? []
    if output.json {
      try Terminal.out([
        "group": client.cache.group.name, "client_id": clientID, "accounts": lines.map(\.members),
        "problems": problems.map(\.members),
        "warnings": found.brokerFailure.map { [$0.asBrokerProblem] },
      ])
    } else {
      if let failure = found.brokerFailure { Terminal.warn(failure.asBrokerProblem) }
      output.report(problems)
      Self.printTable(of: lines, now: now)
    }
    let mayAskBroker = broker.policy != .off
    guard lines.contains(where: { $0.isSignedIn || $0.account.isBrokers && mayAskBroker }) else {
      try snapshot?.checkComplete()
      throw Failure.notSignedIn(account.named, in: snapshot, because: found.brokerFailure)
    }
  }

  private func showLoan(of lender: LoanBroker) async throws {
    let (client, terms) = try await borrowingClient(of: lender)
    let line = Line(
      account: try await client.account(named: account.named), origin: .lender, renews: false,
      tokens: terms.scopes.map { (terms.tenantID, $0, terms.end, .lent) })
    guard output.json else { return Self.printTable(of: [line], now: Date()) }
    try Terminal.out([
      "group": client.cache.group.name, "client_id": terms.clientID, "accounts": [line.members],
      "problems": [String](),
    ])
  }

  private static func printTable(of lines: [Line], now: Date) {
    let rows = lines.flatMap { line in
      let account = [
        line.account.username ?? line.account.homeAccountID, line.origin.rawValue, line.renews ? "yes" : "no",
      ]
      if line.tokens.isEmpty { return [account + ["-", "-", "-"]] }
      return line.tokens.map { token in
        account + [
          token.tenantID ?? "-", token.scopes.joined(separator: " "),
          RecordSummary.expiry(token.end, token.state, at: now),
        ]
      }
    }
    Table.print(
      [
        .accounts("USERNAME", lines.map(\.account.username)), "ORIGIN", "RENEWS", .init("TENANT", minimum: 9),
        .init("SCOPES", minimum: 16), .init("EXPIRES", style: timeStyle),
      ], rows: rows)
  }
}
