import ArgumentParser
import FoundationEssentials
import TokenCache

struct Clear: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove accounts and tokens from a group.",
    discussion: """
      Asks before it removes anything, unless --yes is given. Tokens are only forgotten here: the server \
      does not revoke them.

      Examples:
        llavero clear --expired --yes
        llavero clear --account alice@contoso.com --client 11111111-2222-4333-8444-555555555555
        llavero clear --all --dry-run
      """)

  private struct Result: Encodable {
    let group: String
    let dryRun: Bool
    let removed: [RecordSummary]
    /// Items of the keyring that went as a whole.
    let items: Int
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
      throw ValidationError("Say what to remove: --account, --client, --expired, --damaged or --all.")
    }
  }

  func run() async throws {
    let cache = options.cache
    let (document, problems) = try await cache.export()
    let now = Date()
    let accounts = try await matchingAccounts(cache)
    let affected = document.listed(at: now).filter { isAffected($0, accounts: accounts, now: now) }
      .map(\.summary)
    let damagedCount = problems.filter { $0.kind == .damaged }.count
    let isEmpty = affected.isEmpty && (damaged || all ? problems.isEmpty : true)
    if isEmpty || isDryRun {
      return try report(affected, items: 0, unreadable: damagedCount, now: now)
    }
    try confirm(affected, unreadable: damaged || all ? damagedCount : 0, now: now)
    var items = 0
    if all {
      items = try await cache.clear()
    } else if damaged {
      items = try await cache.store.remove(.damaged, in: options.group)
    } else if expired {
      try await cache.removeExpired()
    } else if let accounts {
      for account in accounts { try await cache.removeAccount(account, clientID: client) }
    } else if let client {
      try await cache.removeClient(client)
    }
    try report(affected, items: items, unreadable: damagedCount, now: now)
  }

  /// The home account ids that `--account` names, `nil` without it.
  private func matchingAccounts(_ cache: TokenCacheAccessor) async throws -> [String]? {
    guard let account else { return nil }
    let all = try await cache.accounts()
    let byID = all.filter { $0.homeAccountID == account.lowercased() }
    let found = byID.isEmpty ? all.filter { names(account, $0) } : byID
    guard !found.isEmpty else {
      throw Failure.Message(
        name: "not_found", message: "No account \(account) in \(options.group.name).",
        advice: "\"llavero accounts\" lists them.")
    }
    guard found.count == 1 else {
      throw Failure.Message(
        code: .usage, name: "ambiguous", message: "\(found.count) accounts are called \(account).",
        advice: "Give the home account id: \(found.map(\.homeAccountID).joined(separator: ", ")).")
    }
    return found.map(\.homeAccountID)
  }

  private func names(_ name: String, _ account: Account) -> Bool {
    ([account.username] + account.tenantProfiles.map(\.username)).contains {
      $0?.lowercased() == name.lowercased()
    }
  }

  private func isAffected(_ record: ListedRecord, accounts: [String]?, now: Date) -> Bool {
    let summary = record.summary
    if all { return true }
    if damaged { return false }
    if expired { return summary.state == .expired }
    let isToken = summary.type != "Account" && summary.type != "AppMetadata"
    if let client {
      guard isToken, summary.clientId?.lowercased() == client.lowercased() else { return false }
    }
    guard let accounts else { return true }
    return accounts.contains { $0 == summary.homeAccountId?.lowercased() }
  }

  private func confirm(_ affected: [RecordSummary], unreadable: Int, now: Date) throws {
    guard !yes else { return }
    guard Terminal.isInput else {
      throw Failure.Message(
        code: .interactionRequired, name: "confirmation_required",
        message: "Nothing was removed: there is nobody to ask.",
        advice: "Add --yes to remove, or --dry-run to see what would go.")
    }
    List.table(of: affected, now: now).forEach(Terminal.error)
    let what =
      Self.counted(affected.count, "record")
      + (unreadable > 0 ? " and \(Self.counted(unreadable, "damaged item"))" : "")
    guard Terminal.confirm("Remove \(what) from \(options.group.name)?") else {
      throw Failure.Message(code: .cancelled, name: "cancelled", message: "Nothing was removed.")
    }
  }

  private func report(_ removed: [RecordSummary], items: Int, unreadable: Int, now: Date) throws {
    if output.json {
      let result = Result(group: options.group.name, dryRun: isDryRun, removed: removed, items: items)
      return Terminal.out(try json(result))
    }
    if isDryRun && !removed.isEmpty { List.table(of: removed, now: now).forEach(Terminal.out) }
    if isDryRun && unreadable > 0 && (damaged || all) {
      Terminal.out("\(Self.counted(unreadable, "damaged item")) would go.")
    }
    let verb = isDryRun ? "would be removed" : "removed"
    let kinds = Dictionary(grouping: removed, by: \.type).sorted { $0.key < $1.key }
      .map { "\($0.value.count) \($0.key)" }.joined(separator: ", ")
    let detail = kinds.isEmpty ? "" : " (\(kinds))"
    Terminal.out("\(Self.counted(removed.count, "record")) \(verb) from \(options.group.name)\(detail).")
    if items > 0 && damaged { Terminal.out("\(Self.counted(items, "damaged item")) removed.") }
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
