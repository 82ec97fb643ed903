import ArgumentParser
import FoundationEssentials
import TokenCache

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the records of a group, or the groups.",
    discussion: """
      Records are accounts, tokens and metadata of clients. No token is shown. "llavero show" takes the id of \
      a record.

      Examples:
        llavero list
        llavero list --group com.example.mail
        llavero list --groups

      JSON: group, problems, records: [id, type, home_account_id, username, environment, client_id, \
      family_id, realm, target, cached_at, expires_on, state (valid, expired, or extended: valid only while \
      the token service is down)]; with --groups: groups: [group, accounts and records (how many), problems].
      """)

  private struct Result: Encodable {
    let group: String
    let records: [RecordSummary]
    let problems: [ProblemSummary]
  }

  @Flag(help: "List the groups of the store.")
  var groups = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var options: GroupOptions

  func validate() throws {
    guard !groups || options.named == nil else { throw ValidationError("--groups lists all: omit --group.") }
  }

  func run() async throws {
    if groups { return try await GroupList.print(options.store, output) }
    let snapshot = try await options.cache.snapshot()
    let now = Date()
    let records = snapshot.document.listed(at: now).map(\.summary)
    if output.json {
      let result = Result(
        group: options.group.name, records: records, problems: snapshot.problems.map(ProblemSummary.init))
      return Terminal.out(try json(result))
    }
    ProblemSummary.report(snapshot.problems)
    guard !records.isEmpty else { return Terminal.note("No records in \(options.group.name).") }
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

/// The groups of a store.
struct GroupList: Encodable {
  private struct Group: Encodable {
    let group: String
    let accounts: Int
    let records: Int
    let problems: [ProblemSummary]
  }

  private var groups: [Group] = []

  static func print(_ options: StoreOptions, _ output: OutputOptions) async throws {
    let store = try options.store
    var list = GroupList()
    for group in try await store.groups() {
      let snapshot = try await TokenCacheAccessor(store: store, group: group).snapshot()
      let document = snapshot.document
      list.groups.append(
        Group(
          group: group.name, accounts: document.accountCount, records: document.recordCount,
          problems: snapshot.problems.map(ProblemSummary.init)))
    }
    if output.json { return Terminal.out(try json(list)) }
    guard !list.groups.isEmpty else { return Terminal.note("No keychain groups in the store.") }
    var table = Table([
      .init(title: "GROUP", minimum: 20), .init(title: "ACCOUNTS"), .init(title: "RECORDS"),
      .init(title: "PROBLEMS"),
    ])
    for group in list.groups {
      table.add([group.group, "\(group.accounts)", "\(group.records)", "\(group.problems.count)"])
    }
    table.print { column, cell in column == 3 && cell != "0" ? .yellow : nil }
  }
}
