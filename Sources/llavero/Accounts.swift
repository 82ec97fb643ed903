import ArgumentParser
import TokenCache

struct Accounts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the accounts of a group.",
    discussion: """
      With --client, only the accounts that are signed in to that client.

      Example:
        llavero accounts --group com.example.mail
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
    let cache = options.cache
    let accounts = try await cache.accounts(AccountFilter(clientID: client))
    let problems = try await cache.store.read(.all, in: options.group).problems
    if output.json {
      let result = Result(
        group: options.group.name, accounts: accounts.map(Self.summary),
        problems: problems.map(ProblemSummary.init))
      return Terminal.out(try json(result))
    }
    ProblemSummary.report(problems)
    guard !accounts.isEmpty else { return Terminal.error("No account in \(options.group.name).") }
    var table = Table([
      .init(title: "USERNAME", isFlexible: true), .init(title: "NAME", isFlexible: true),
      .init(title: "TENANTS"), .init(title: "ENVIRONMENT", isFlexible: true),
      .init(title: "HOME ACCOUNT ID", isFlexible: true),
    ])
    for account in accounts {
      table.add([
        account.username ?? "-", account.tenantProfiles.lazy.compactMap(\.name).first ?? "-",
        "\(account.tenantProfiles.count)", account.environment, account.homeAccountID,
      ])
    }
    table.lines(width: Terminal.width) { column, cell in column == 4 ? Terminal.dim(cell) : cell }
      .forEach(Terminal.out)
  }

  private static func summary(_ account: Account) -> Result.Account {
    Result.Account(
      homeAccountId: account.homeAccountID, username: account.username, environment: account.environment,
      tenantProfiles: account.tenantProfiles.map {
        Result.Account.Profile(
          tenantId: $0.tenantID, localAccountId: $0.localAccountID, username: $0.username, name: $0.name,
          isHomeTenant: $0.isHomeTenant)
      })
  }
}
