import ArgumentParser
import TokenCache

struct Groups: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups",
    abstract: "List the keychain groups in the store.",
    discussion: """
      Example:
        llavero groups

      JSON: groups: [group, accounts and records (how many), problems].
      """)

  private struct Result: Encodable {
    struct Group: Encodable {
      let group: String
      let accounts: Int
      let records: Int
      let problems: [ProblemSummary]
    }
    let groups: [Group]
  }

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let store = try store.store
    var groups: [Result.Group] = []
    for group in try await store.groups() {
      let cache = TokenCacheAccessor(store: store, group: group)
      let snapshot = try await cache.snapshot()
      let (document, problems) = (snapshot.document, snapshot.problems)
      groups.append(
        Result.Group(
          group: group.name, accounts: document.accountCount,
          records: document.recordCount, problems: problems.map(ProblemSummary.init)))
    }
    if output.json { return Terminal.out(try json(Result(groups: groups))) }
    guard !groups.isEmpty else { return Terminal.error("No keychain group in the store.") }
    var table = Table([
      .init(title: "GROUP", minimum: 20), .init(title: "ACCOUNTS"), .init(title: "RECORDS"),
      .init(title: "PROBLEMS"),
    ])
    for group in groups {
      table.add([group.group, "\(group.accounts)", "\(group.records)", "\(group.problems.count)"])
    }
    table.print { column, cell in column == 3 && cell != "0" ? .yellow : nil }
  }
}
