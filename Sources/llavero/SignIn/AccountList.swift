import ArgumentParser
import TokenCache

struct Accounts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "List the accounts of a group.",
    discussion: """
      With --client, only the accounts that are signed in to that client.

      Example:
        llavero accounts --group com.example.mail

      JSON: group, problems, accounts: [home_account_id, username, environment, origin (own, broker or both), \
      tenant_profiles: \
      [tenant_id, local_account_id, username, name, is_home_tenant]].
      """)

  private struct Result: Encodable {
    struct Account: Encodable {
      struct Profile: Encodable {
        let tenantId: String
        let localAccountId: String?
        let username: String?
        let name: String?
        let isHomeTenant: Bool
      }
      let homeAccountId: String
      let username: String?
      let environment: String
      let origin: AccountOrigin
      let tenantProfiles: [Profile]
    }
    let group: String
    let accounts: [Account]
    let problems: [ProblemSummary]
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Option(help: "A client id: only accounts that are signed in to it.")
  var client: String?

  func run() async throws {
    let snapshot = try await options.cache.snapshot()
    let accounts = try snapshot.accounts(AccountFilter(clientID: client))
    let problems = snapshot.problems
    let renewing = snapshot.renewableAccounts
    let origin = { (account: Account) in
      AccountOrigin(of: account, renews: renewing.contains(account.homeAccountID.lowercased()))
    }
    if output.json {
      let result = Result(
        group: options.group.name, accounts: accounts.map { Self.summary($0, origin($0)) },
        problems: problems.map(ProblemSummary.init))
      return Terminal.out(try json(result))
    }
    ProblemSummary.report(problems)
    guard !accounts.isEmpty else { return Terminal.error("No account in \(options.group.name).") }
    var table = Table([
      .init(title: "USERNAME", minimum: 30), .init(title: "NAME", minimum: 12), .init(title: "TENANTS"),
      .init(title: "ORIGIN"), .init(title: "ENVIRONMENT", minimum: 12),
      .init(title: "HOME ACCOUNT ID", minimum: 9),
    ])
    for account in accounts {
      table.add([
        account.username ?? "-", account.tenantProfiles.lazy.compactMap(\.name).first ?? "-",
        "\(account.tenantProfiles.count)", origin(account).rawValue, account.environment,
        account.homeAccountID,
      ])
    }
    table.print { column, _ in column == 5 ? .dim : nil }
  }

  private static func summary(_ account: Account, _ origin: AccountOrigin) -> Result.Account {
    Result.Account(
      homeAccountId: account.homeAccountID, username: account.username, environment: account.environment,
      origin: origin,
      tenantProfiles: account.tenantProfiles.map {
        Result.Account.Profile(
          tenantId: $0.tenantID, localAccountId: $0.localAccountID, username: $0.username, name: $0.name,
          isHomeTenant: $0.isHomeTenant)
      })
  }
}
