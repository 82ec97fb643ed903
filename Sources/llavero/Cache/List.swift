import ArgumentParser
import FoundationEssentials
import TokenCache

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the records of a group: accounts, tokens and what is known of clients.",
    discussion: """
      No token is shown. The id of a record is what "llavero show" takes.

      Example:
        llavero list --group com.example.mail

      JSON: group, problems, records: [id, type, home_account_id, username, environment, client_id, \
      family_id, realm, target, cached_at, expires_on, state (valid, expired, or extended: good only while \
      the token service is down)].
      """)

  private struct Result: Encodable {
    let group: String
    let records: [RecordSummary]
    let problems: [ProblemSummary]
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let snapshot = try await options.cache.snapshot()
    let (document, problems) = (snapshot.document, snapshot.problems)
    let now = Date()
    let records = document.listed(at: now).map(\.summary)
    if output.json {
      let result = Result(
        group: options.group.name, records: records, problems: problems.map(ProblemSummary.init))
      return Terminal.out(try json(result))
    }
    ProblemSummary.report(problems)
    guard !records.isEmpty else { return Terminal.error("Nothing in \(options.group.name).") }
    Self.printTable(of: records, now: now, to: Terminal.output)
  }

  static func printTable(of records: [RecordSummary], now: Date, to stream: Stream) {
    var table = Table([
      .init(title: "ID"), .init(title: "TYPE"), .init(title: "ACCOUNT", minimum: 24),
      .init(title: "TENANT", minimum: 9), .init(title: "CLIENT", minimum: 9),
      .init(title: "SCOPES", minimum: 16), .init(title: "EXPIRES"),
    ])
    for record in records {
      table.add([
        record.shortID, record.type, record.username ?? record.homeAccountId ?? "-", record.realm ?? "-",
        record.clientId ?? "-", record.target ?? "-",
        record.expiresOn.map { timeLeft(until: $0, from: now) } ?? "-",
      ])
    }
    table.print(to: stream) { column, cell in
      switch column {
      case 0: .dim
      case 6: timeStyle(cell)
      default: nil
      }
    }
  }
}
