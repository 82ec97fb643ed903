import ArgumentParser
import FoundationEssentials
import TokenCache

struct List: AsyncParsableCommand, GroupCommand {
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
      family_id, realm, target, cached_at, expires_on, state (valid, expired, extended: valid only while the \
      token service is down, or unusable: "llavero token" does not return it)]; with --groups: \
      groups: [group, accounts and records (how many), problems].
      """)

  @Flag(help: "List the groups of the store.")
  var groups = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func validate() throws {
    guard !groups || groupOption.named == nil else {
      throw ValidationError("--groups lists all: omit --group.")
    }
  }

  func run() async throws {
    if groups { return try await Self.printGroups(of: store, output) }
    let snapshot = try await cache.snapshot()
    let now = Date()
    let records = snapshot.document.listed(at: now).map(\.summary)
    if output.json {
      return try Terminal.out([
        "group": group.name, "records": records,
        "problems": snapshot.problems.map(\.members),
      ])
    }
    output.report(snapshot.problems)
    guard !records.isEmpty else {
      Terminal.note("No records in \(group.name).")
      if let hint = await collectionHint() { Terminal.note(printable(hint)) }
      return
    }
    Self.printTable(of: records, now: now, to: Terminal.output)
  }

  static func printTable(of records: [RecordSummary], now: Date, to stream: Stream) {
    Table.print(
      [
        .init("ID") { _ in .dim }, "TYPE", .init("ACCOUNT", minimum: 24), .init("TENANT", minimum: 9),
        .init("CLIENT", minimum: 9), .init("SCOPES", minimum: 16), .init("EXPIRES", style: timeStyle),
      ],
      rows: records.map { record in
        [
          record.shortID, record.type, record.username ?? record.homeAccountId ?? "-", record.realm ?? "-",
          record.clientId ?? "-", record.target ?? "-",
          RecordSummary.expiry(record.expiresOn, record.state, at: now),
        ]
      }, to: stream)
  }

  static func printGroups(of options: StoreOptions, _ output: OutputOptions) async throws {
    let store = try options.store
    var groups: [(name: String, contents: CacheSnapshot)] = []
    var failure: CacheError?
    for group in try await store.groups() {
      do throws(CacheError) {
        groups.append((group.name, try await TokenCacheAccessor(store: store, group: group).snapshot()))
      } catch {
        // Such as a directory of the group's that others may enter. It hides no other group.
        guard error.code == .unavailable else { throw error }
        failure = failure ?? error
      }
    }
    if let failure, groups.isEmpty { throw failure }
    if output.json {
      let list = groups.map { name, contents -> Members in
        [
          "group": name, "accounts": contents.document.accountCount,
          "records": contents.document.recordCount, "problems": contents.problems.map(\.members),
        ]
      }
      try Terminal.out(["groups": list])
    } else if groups.isEmpty {
      Terminal.note("No keychain groups in the store.")
    } else {
      Table.print(
        [
          .init("GROUP", minimum: 20), "ACCOUNTS", "RECORDS",
          .init("PROBLEMS") { $0 == "0" ? nil : .yellow },
        ],
        rows: groups.map { name, contents in
          let (document, problems) = (contents.document, contents.problems)
          return [name, "\(document.accountCount)", "\(document.recordCount)", "\(problems.count)"]
        })
    }
    if let failure { throw failure }
  }
}
