import ArgumentParser
import FoundationEssentials
import TokenCache

struct Clear: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Remove accounts and tokens from a group.",
    discussion: """
      Asks before it removes anything, unless --yes is given. The tokens are only removed here: the server \
      does not revoke them. A named account or client without records in the group is an error; a group \
      without expired tokens or without records is not.

      Examples:
        llavero clear --expired --yes
        llavero clear --account alice@contoso.com --dry-run
        llavero clear --client 11111111-2222-4333-8444-555555555555

      JSON: group, dry_run, removed (records as in "llavero list"), unreadable (how many unreadable entries \
      were removed), problems (empty with --all).
      """)

  @Option(
    help: ArgumentHelp("Remove an account, by user name or home account ID.", valueName: "name"),
    completion: .accounts, transform: Setting.account.checked)
  var account: String?

  @Option(
    help: ArgumentHelp("Remove a client's tokens; with --account, of that account.", valueName: "id"),
    transform: Setting.client.checked)
  var client: String?

  @Flag(help: "Remove expired access tokens.")
  var expired = false

  @Flag(help: "Remove everything in the group.")
  var all = false

  @Flag(name: .customLong("dry-run"), help: "Print what would be removed.")
  var isDryRun = false

  @Flag(name: .shortAndLong, help: "Remove without asking.")
  var yes = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func validate() throws {
    let choices = [account != nil || client != nil, expired, all].filter { $0 }.count
    guard choices == 1 else {
      throw ValidationError(
        "Choose what to remove: --account and --client, or one of --expired and --all.")
    }
  }

  private static let confirmationAdvice = "Add --yes to remove, or --dry-run to see what would be removed."

  func run() async throws {
    let cache = try cache
    let snapshot = try await cache.snapshot()
    // Unreadable entries are removed with --all alone.
    let hidden = try await cache.store.hiddenProblems(of: group)
    let problems = all ? [] : snapshot.problems + hidden
    output.report(problems)
    let now = Date()
    let records = snapshot.document.listed(at: now)
    let account = try account.map { name in
      let ids = snapshot.homeAccountIDs(named: name)
      guard ids.count == 1, let id = ids.first else {
        throw Failure(
          Failure.ambiguous, "\(ids.count) accounts have the user name \(name).", code: .usage,
          advice: "Use the home account ID: \(ids.sorted().joined(separator: " or ")).")
      }
      guard records.contains(where: { $0.summary.isOf(accounts: ids) }) else {
        // An unreadable part may hold it.
        try snapshot.checkComplete()
        throw Failure(
          "not_found", "No account \(name) in \(group.name).",
          advice: "\"llavero list\" lists the accounts.")
      }
      return id
    }
    let affected = records.filter { isAffected($0, account: account, at: now) }.map(\.summary)
    let unreadable = all ? snapshot.problems.count(where: \.hidesRecords) + hidden.count : 0
    if affected.isEmpty, let client {
      try snapshot.checkComplete()
      let whose = self.account.map { " for \($0)" } ?? ""
      throw Failure(
        "not_found", "No token of client \(client)\(whose) in \(group.name).",
        advice: "\"llavero list\" lists the tokens.")
    }
    let isEmpty = affected.isEmpty && unreadable == 0 && (!all || snapshot.isEmpty)
    if isEmpty, all, !isDryRun, try await cache.store.groups().contains(group) {
      // What remains of a group without records, such as items without a secret.
      _ = try await cache.store.remove(.everything, in: group)
    }
    if isEmpty || isDryRun { return try report(affected, unreadable, problems, now: now) }

    try confirm(affected, unreadable, now: now)
    do throws(CacheError) {
      try await remove(from: cache, account: account)
    } catch {
      // What was removed before the failure is reported, too.
      if let left = try? await cache.snapshot() {
        let ids = Set(left.document.listed(at: now).map(\.summary.id))
        let removed = affected.filter { !ids.contains($0.id) }
        if !removed.isEmpty { try report(removed, 0, problems, now: now) }
      }
      throw error
    }
    try report(affected, unreadable, problems, now: now)
    if !output.json { await cache.store.noteLateWrite() }
    // An unreadable part may hold more of the client's tokens.
    if client != nil, account == nil { try snapshot.checkComplete() }
  }

  private func remove(from cache: TokenCacheAccessor, account: String?) async throws(CacheError) {
    if all {
      try await cache.clear()
    } else if expired {
      try await cache.removeExpired()
    } else if let account {
      try await cache.removeAccount(account, clientID: client)
    } else if let client {
      _ = try await cache.removeTokens(ofClient: client)
    }
  }

  private func isAffected(_ record: ListedRecord, account: String?, at now: Date) -> Bool {
    let summary = record.summary
    if all { return true }
    // Only access tokens have a state.
    if expired { return summary.state != nil && Credential(fields: record.fields).hasFullyExpired(at: now) }
    if let client {
      guard record.isCredential, summary.isOf(client: client) else { return false }
    }
    return account == nil || summary.homeAccountId?.lowercased() == account
  }

  private func confirm(_ affected: [RecordSummary], _ unreadable: Int, now: Date) throws {
    guard !yes else { return }
    try Terminal.requirePerson("Nothing was removed", advice: Self.confirmationAdvice)
    if !affected.isEmpty { List.printTable(of: affected, now: now, to: Terminal.errors) }
    var what: [String] = []
    if !affected.isEmpty || unreadable == 0 { what.append(counted(affected.count, "record")) }
    if unreadable > 0 { what.append(counted(unreadable, "unreadable item")) }
    guard Terminal.confirm("Remove \(what.joined(separator: " and ")) from \(group.name)?") else {
      throw Failure.cancelled("Nothing was removed.")
    }
  }

  private func report(
    _ removed: [RecordSummary], _ unreadable: Int, _ problems: [StoreProblem], now: Date
  ) throws {
    let group = group.name
    if output.json {
      return try Terminal.out([
        "group": group, "dry_run": isDryRun, "removed": removed.map(\.members), "unreadable": unreadable,
        "problems": problems.map(\.members),
      ])
    }
    if isDryRun && !removed.isEmpty { List.printTable(of: removed, now: now, to: Terminal.output) }
    let verb = isDryRun ? "would be removed" : "removed"
    let kinds = Dictionary(grouping: removed, by: \.type).sorted { $0.key < $1.key }
      .map { "\($0.value.count) \($0.key)" }.joined(separator: ", ")
    if !removed.isEmpty || unreadable == 0 {
      let detail = kinds.isEmpty ? "" : " (\(kinds))"
      Terminal.out("\(counted(removed.count, "record")) \(verb) from \(group)\(detail).")
    }
    if unreadable > 0 { Terminal.out("\(counted(unreadable, "unreadable item")) \(verb) from \(group).") }
  }
}
