import ArgumentParser
import FoundationEssentials
import TokenCache

struct List: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the records of a group, or groups.",
    discussion: """
      Records are accounts, tokens and metadata of clients. No token is shown. "llavero show" takes the id of \
      a record. On a terminal, what is the same in all records stands above them.

      Examples:
        llavero list
        llavero list --group com.example.mail
        llavero list --account alice@contoso.com --type AccessToken
        llavero list --groups

      JSON: group, problems, records: [id, type, home_account_id, username, environment, client_id, \
      family_id, tenant_id, scopes, cached_at, expires_on, state (valid, expired, extended: valid only while the \
      token service is down, or unusable: "llavero token" does not return it)]; with --groups: \
      groups: [group, account_count, record_count, problems].
      """)

  @Flag(help: "List the groups of the store.")
  var groups = false

  @Option(
    help: ArgumentHelp("Only an account's records, by user name or home account ID.", valueName: "name"),
    completion: .accounts, transform: Setting.account.checked)
  var account: String?

  @Option(help: ArgumentHelp("Only a client's records.", valueName: "id"), transform: Setting.client.checked)
  var client: String?

  @Option(help: "Only records of a type.")
  var type: RecordType?

  @OptionGroup var output: OutputOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func validate() throws {
    guard !groups || groupOption.named == nil else {
      throw ValidationError("--groups lists all: omit --group.")
    }
    guard !groups || account == nil && client == nil && type == nil else {
      throw ValidationError("--account, --client and --type are for records: omit --groups.")
    }
  }

  func run() async throws {
    if groups { return try await Self.printGroups(of: store, output) }
    let snapshot = try await cache.snapshot()
    let now = Date()
    let owners = account.map(snapshot.homeAccountIDs)
    let records = snapshot.document.listed(at: now).map(\.summary).filter { record in
      owners.map(record.isOf(accounts:)) ?? true && client.map(record.isOf(client:)) ?? true
        && type.map { $0.rawValue == record.type } ?? true
    }
    if output.json {
      return try Terminal.out([
        "group": group.name, "records": records.map(\.members),
        "problems": snapshot.problems.map(\.members),
      ])
    }
    output.report(snapshot.problems)
    guard !records.isEmpty else {
      let isAll = account == nil && client == nil && type == nil
      Terminal.note("No \(isAll ? "" : "such ")records in \(group.name).")
      if let hint = await collectionHint() { Terminal.note(printable(hint)) }
      return
    }
    Self.printTable(of: records, now: now, to: Terminal.output)
  }

  static func printTable(of records: [RecordSummary], now: Date, to stream: Stream) {
    Table.print(
      [
        .init("ID") { _ in .dim }, .init("TYPE", minimum: 12),
        .accounts("ACCOUNT", records.map(\.username)), .init("TENANT", minimum: 9),
        .init("CLIENT", minimum: 9), .init("SCOPES", minimum: 16), .init("EXPIRES", style: timeStyle),
      ],
      rows: records.map { record in
        [
          record.shortID, record.type, record.username ?? record.homeAccountId ?? "-", record.realm ?? "-",
          record.clientId ?? "-", record.target ?? "-",
          RecordSummary.expiry(record.expiresOn, record.state, at: now),
        ]
      }, joining: true, to: stream)
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
          "group": name, "account_count": contents.document.accountCount,
          "record_count": contents.document.recordCount, "problems": contents.problems.map(\.members),
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

/// A type of records, as `list` shows it.
struct RecordType: Choice {
  let rawValue: String

  static let allCases: [RecordType] = {
    let names = ["Account"] + CredentialType.allCases.map(\.rawValue) + ["AppMetadata", "AccountMetadata"]
    return names.map { RecordType(rawValue: $0) }
  }()

  init(rawValue: String) { self.rawValue = rawValue }

  init?(argument: String) {
    guard let known = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() })
    else { return nil }
    self = known
  }
}

extension RecordSummary {
  /// Whether it belongs to one of the accounts with these home account IDs, which are in lower case.
  func isOf(accounts ids: Set<String>) -> Bool { ids.contains(homeAccountId?.lowercased() ?? "") }

  func isOf(client id: String) -> Bool { clientId?.lowercased() == id.lowercased() }
}
