import ArgumentParser
import FoundationEssentials
import IdentityClient
import Lending
import TokenCache

struct Status: AsyncParsableCommand, SignsIn {
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
      scopes, expires_on, state (valid, expired or extended, as in "llavero list", or lent)]]. Without a \
      client ID: group, problems, accounts: [home_account_id, username, environment, origin (own, broker or \
      both), tenant_profiles: [tenant_id, local_account_id, username, name, is_home_tenant]].
      """)

  private struct Result: Encodable {
    struct Account: Encodable {
      struct Token: Encodable {
        let tenantId: String?
        let scopes: [String]
        let expiresOn: Date?
        let state: RecordSummary.State?
      }
      let homeAccountId: String
      let username: String?
      let environment: String
      let origin: AccountOrigin
      let renews: Bool
      let tokens: [Token]
    }
    let group: String
    let clientId: String
    let accounts: [Account]
    let problems: [ProblemSummary]
    var warnings: [String]?
  }

  @OptionGroup var account: AccountOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var client: ClientOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  func run() async throws {
    if let lender = try client.cache.store.lender { return try await showLoan(of: lender) }
    // The broker is asked for a client: with it alone, the lack of one is an error.
    guard client.client ?? Settings.current.clientID != nil || broker.policy == .required else {
      return try await AccountList(client.cache, named: account.named, isEmptyAllowed: false).print(output)
    }
    let client = try client.publicClient(broker: broker.policy)
    let snapshot = try await client.snapshotIfNeeded()
    let found = try await client.accountsEverywhere(named: account.named, in: snapshot)
    let clientID = client.configuration.clientID
    guard !found.accounts.isEmpty else {
      throw Failure.Message.notSignedIn(account.named, in: snapshot, because: found.brokerFailure)
    }
    let now = Date()
    let tokens = Dictionary(
      grouping: (snapshot?.document ?? CacheDocument()).listed(at: now).map(\.summary).filter {
        $0.type == "AccessToken" && $0.clientId?.lowercased() == clientID.lowercased()
      }, by: { $0.homeAccountId?.lowercased() ?? "" })
    var summaries: [Result.Account] = []
    for account in found.accounts {
      let request = TokenLookup(
        homeAccountID: account.homeAccountID, environment: account.environment, clientID: clientID)
      let renews = snapshot.map { !$0.refreshTokens(for: request).isEmpty } ?? false
      summaries.append(
        Result.Account(
          homeAccountId: account.homeAccountID, username: account.username, environment: account.environment,
          origin: AccountOrigin(of: account, renews: renews), renews: renews,
          tokens: (tokens[account.homeAccountID.lowercased()] ?? []).map {
            Result.Account.Token(
              tenantId: $0.realm, scopes: ($0.target ?? "").split(separator: " ").map(String.init),
              expiresOn: $0.expiresOn, state: $0.state)
          }))
    }
    let problems = snapshot?.problems ?? []
    if output.json {
      let result = Result(
        group: client.cache.group.name, clientId: clientID, accounts: summaries,
        problems: problems.map(ProblemSummary.init),
        warnings: found.brokerFailure.map { [$0.asBrokerProblem] })
      return Terminal.out(try json(result))
    }
    if let failure = found.brokerFailure { Terminal.error("warning: " + printable(failure.asBrokerProblem)) }
    ProblemSummary.report(problems)
    printTable(of: summaries, now: now)
  }

  /// Shows the terms of the loan.
  private func showLoan(of lender: LoanBroker) async throws {
    let (client, terms) = try await client.borrowingClient(of: lender)
    let account = try await client.account(named: account.named)
    let summary = Result.Account(
      homeAccountId: account.homeAccountID, username: account.username, environment: account.environment,
      origin: .lender, renews: false,
      tokens: terms.scopes.map {
        Result.Account.Token(tenantId: terms.tenantID, scopes: $0, expiresOn: terms.end, state: .lent)
      })
    guard output.json else { return printTable(of: [summary], now: Date()) }
    Terminal.out(
      try json(
        Result(group: client.cache.group.name, clientId: terms.clientID, accounts: [summary], problems: [])))
  }

  private func printTable(of accounts: [Result.Account], now: Date) {
    var table = Table([
      .init(title: "USERNAME", minimum: 24), .init(title: "ORIGIN"), .init(title: "RENEWS"),
      .init(title: "TENANT", minimum: 9),
      .init(title: "SCOPES", minimum: 16), .init(title: "EXPIRES"),
    ])
    for account in accounts {
      let name = account.username ?? account.homeAccountId
      let renews = account.renews ? "yes" : "no"
      let origin = account.origin.rawValue
      if account.tokens.isEmpty { table.add([name, origin, renews, "-", "-", "-"]) }
      for token in account.tokens {
        table.add([
          name, origin, renews, token.tenantId ?? "-", token.scopes.joined(separator: " "),
          token.expiresOn.map { timeLeft(until: $0, from: now) } ?? "-",
        ])
      }
    }
    table.print { column, cell in column == 5 ? timeStyle(cell) : nil }
  }
}
