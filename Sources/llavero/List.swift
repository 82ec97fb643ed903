import ArgumentParser
import FoundationEssentials
import TokenCache

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the records of a group: accounts, tokens and app metadata.",
    discussion: """
      No token is shown. The id of a record is what "llavero show" takes.

      Example:
        llavero list --json
      """)

  private struct Result: Encodable {
    let group: String
    let records: [RecordSummary]
    let problems: [ProblemSummary]
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (document, problems) = try await options.cache.export()
    let now = Date()
    let records = document.listed(at: now).map(\.summary)
    if output.json {
      let result = Result(
        group: options.group.name, records: records, problems: problems.map(ProblemSummary.init))
      return Terminal.out(try json(result))
    }
    ProblemSummary.report(problems)
    guard !records.isEmpty else { return Terminal.error("Nothing in \(options.group.name).") }
    Self.table(of: records, now: now).forEach(Terminal.out)
  }

  /// The records as lines of a table.
  static func table(of records: [RecordSummary], now: Date) -> [String] {
    var table = Table([
      .init(title: "ID"), .init(title: "TYPE"), .init(title: "ACCOUNT", isFlexible: true),
      .init(title: "CLIENT", isFlexible: true), .init(title: "SCOPES", isFlexible: true),
      .init(title: "EXPIRES"),
    ])
    for record in records {
      table.add([
        record.id, record.type, record.username ?? record.homeAccountId ?? "-", record.clientId ?? "-",
        record.target ?? "-", record.expiresOn.map { timeLeft(until: $0, from: now) } ?? "-",
      ])
    }
    return table.lines(width: Terminal.width) { column, cell in
      switch column {
      case 0: Terminal.dim(cell)
      case 5:
        cell.hasSuffix("left") ? Terminal.green(cell) : cell.hasSuffix("ago") ? Terminal.red(cell) : cell
      default: cell
      }
    }
  }
}
