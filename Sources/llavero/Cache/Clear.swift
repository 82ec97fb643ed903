import ArgumentParser
import FoundationEssentials
import TokenCache

struct Clear: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Remove accounts and tokens from a group.",
    discussion: """
      Asks before it removes anything, unless --yes is given. Tokens are only forgotten here: the server \
      does not revoke them. It is an error when an account or client that is named has nothing in the \
      group; it is none when nothing is expired, damaged or there at all.

      With --damaged, what cannot be read goes, and so do older versions that something put back in the file \
      store; files that open where nothing tells any more which are the present ones stay and count as these. \
      Each is named, with what becomes of it.

      Examples:
        llavero clear --expired --yes
        llavero clear --account alice@contoso.com --dry-run
        llavero clear --client 11111111-2222-4333-8444-555555555555

      JSON: group, dry_run, removed (records as in "llavero list"), unreadable (how many items went that could \
      not be read or were older versions), problems (with --damaged those that were put right, as in "llavero \
      list").
      """)

  private struct Result: Encodable {
    let group: String
    let dryRun: Bool
    let removed: [RecordSummary]
    let unreadable: Int
    let problems: [ProblemSummary]
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Option(help: "An account, by its user name or home account id. With --client, only that client's tokens.")
  var account: String?

  @Option(help: "A client id: its tokens, for all accounts unless --account is given.")
  var client: String?

  @Flag(help: "Access tokens whose time is over.")
  var expired = false

  @Flag(help: "What cannot be read.")
  var damaged = false

  @Flag(help: "Everything in the group.")
  var all = false

  @Flag(name: .customLong("dry-run"), help: "Only say what would be removed.")
  var isDryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  func validate() throws {
    let choices = [account != nil || client != nil, expired, damaged, all].filter { $0 }.count
    guard choices == 1 else {
      throw ValidationError(
        "Say what to remove: --account and --client, or one of --expired, --damaged and --all.")
    }
  }

  func run() async throws {
    let cache = try options.cache
    let snapshot = try await cache.snapshot()
    let (document, problems) = (snapshot.document, snapshot.problems)
    // What they hide is not about to go, whatever is named.
    if !output.json, !all, !damaged { ProblemSummary.report(problems) }
    let now = Date()
    let records = document.listed(at: now)
    let account = try account.map { try homeAccountID(of: $0, in: records) }
    let affected = records.filter { isAffected($0, account: account, at: now) }.map(\.summary)
    let unreadable = problems.filter { all ? $0.hidesRecords : damaged && $0.remedy != .none }
    if affected.isEmpty, let client { throw nothing(of: client) }
    let isEmpty = affected.isEmpty && unreadable.isEmpty && (!all || snapshot.isEmpty)
    if isEmpty, all || damaged, !isDryRun, try await cache.store.groups().contains(options.group) {
      // What is left of a group that holds nothing, such as items without a secret.
      _ = try await cache.store.remove(all ? .everything : .damaged, in: options.group)
    }
    if isEmpty || isDryRun { return try report(affected, unreadable, now: now) }

    try confirm(affected, unreadable, now: now)
    if all {
      try await cache.clear()
    } else if damaged {
      _ = try await cache.store.remove(.damaged, in: options.group)
    } else if expired {
      try await cache.removeExpired()
    } else if let account {
      try await cache.removeAccount(account, clientID: client)
    } else if let client {
      try await cache.removeClient(client)
    }
    try report(affected, unreadable, now: now)
  }

  /// The home account id of the account that `--account` names.
  private func homeAccountID(of name: String, in records: [ListedRecord]) throws -> String {
    let name = name.lowercased()
    let ids = Set(records.compactMap { $0.summary.homeAccountId?.lowercased() })
    if ids.contains(name) { return name }
    let named = Set(
      records.map(\.summary).filter { $0.type == "Account" && $0.username?.lowercased() == name }
        .compactMap { $0.homeAccountId?.lowercased() }
    ).sorted()
    guard let id = named.first else {
      throw Failure.Message(
        name: "not_found", message: "There is no account \(name) in \(options.group.name).",
        advice: "\"llavero accounts\" lists them.")
    }
    guard named.count == 1 else {
      throw Failure.Message(
        code: .usage, name: "ambiguous", message: "\(named.count) accounts are called \(name).",
        advice: "Give the home account id: \(named.joined(separator: " or ")).")
    }
    return id
  }

  private func nothing(of client: String) -> Failure.Message {
    let whose = account.map { " for \($0)" } ?? ""
    return Failure.Message(
      name: "not_found",
      message: "There is no token of client \(client)\(whose) in \(options.group.name).",
      advice: "\"llavero list\" shows which there are.")
  }

  private func isAffected(_ record: ListedRecord, account: String?, at now: Date) -> Bool {
    let summary = record.summary
    if all { return true }
    if damaged { return false }
    // The state is that of an access token alone.
    if expired { return summary.state != nil && Credential(fields: record.fields).hasFullyExpired(at: now) }
    if let client {
      guard record.isCredential, summary.clientId?.lowercased() == client.lowercased() else { return false }
    }
    return account == nil || summary.homeAccountId?.lowercased() == account
  }

  private func confirm(_ affected: [RecordSummary], _ unreadable: [StoreProblem], now: Date) throws {
    guard !yes else { return }
    guard Terminal.isInput else {
      throw Failure.Message(
        code: .interactionRequired, name: "confirmation_required",
        message: "Nothing was removed: there is nobody to ask.",
        advice: "Add --yes to remove, or --dry-run to see what would go.")
    }
    if !affected.isEmpty { List.printTable(of: affected, now: now, to: Terminal.errors) }
    remedies(of: unreadable, "would be").forEach(Terminal.error)
    let items = removals(among: unreadable)
    var what: [String] = []
    if !affected.isEmpty || unreadable.isEmpty { what.append(counted(affected.count, "record")) }
    if items > 0 { what.append(counted(items, itemName)) }
    let group = options.group.name
    let removal = "Remove \(what.joined(separator: " and ")) from \(group)?"
    guard Terminal.confirm(what.isEmpty ? "Accept that in \(group)?" : removal) else {
      throw Failure.Message(code: .cancelled, name: "cancelled", message: "Nothing was removed.")
    }
  }

  /// How many of the problems go with what they are about.
  private func removals(among problems: [StoreProblem]) -> Int {
    all ? problems.count : problems.count { $0.remedy == .removal }
  }

  private var itemName: String { all ? "unreadable item" : "item" }

  /// What becomes of each thing that is damaged: some of it opens.
  private func remedies(of problems: [StoreProblem], _ verb: String) -> [String] {
    guard damaged else { return [] }
    return problems.map { problem in
      let fate = problem.remedy == .removal ? "removed" : "accepted"
      return printable("\(problem.detail) It \(verb) \(fate).")
    }
  }

  private func report(_ removed: [RecordSummary], _ unreadable: [StoreProblem], now: Date) throws {
    let items = removals(among: unreadable)
    if output.json {
      let result = Result(
        group: options.group.name, dryRun: isDryRun, removed: removed, unreadable: items,
        problems: damaged ? unreadable.map(ProblemSummary.init) : [])
      return Terminal.out(try json(result))
    }
    if isDryRun && !removed.isEmpty { List.printTable(of: removed, now: now, to: Terminal.output) }
    let verb = isDryRun ? "would be removed" : "removed"
    let kinds = Dictionary(grouping: removed, by: \.type).sorted { $0.key < $1.key }
      .map { "\($0.value.count) \($0.key)" }.joined(separator: ", ")
    remedies(of: unreadable, isDryRun ? "would be" : "was").forEach(Terminal.out)
    if !removed.isEmpty || unreadable.isEmpty {
      Terminal.out(
        "\(counted(removed.count, "record")) \(verb) from \(options.group.name)"
          + (kinds.isEmpty ? "." : " (\(kinds))."))
    }
    if items > 0 {
      Terminal.out("\(counted(items, itemName)) \(verb) from \(options.group.name).")
    }
  }
}
