import ArgumentParser
import MicrosoftGraph
import TokenCache

// The commands and options of version 0.2 that have other names now. They work as before, hidden from the help, and
// are removed in the next version: delete this file, and the properties named `former`.

/// `status` without a client, by its former name.
struct Accounts: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "List the accounts of a group.",
    discussion: """
      "llavero status" lists them, too, where no client ID is set.

      Example:
        llavero accounts --group com.example.mail

      JSON: group, problems, accounts: [home_account_id, username, environment, origin (own, broker or both), \
      tenant_profiles: \
      [tenant_id, local_account_id, username, name, is_home_tenant]].
      """,
    shouldDisplay: false)

  @Option(help: "A client ID: only accounts that are signed in to it.", transform: Setting.client.checked)
  var client: String?

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func run() async throws { try await AccountList.print(cache, clientID: client, output) }
}

/// `get /me`, by its former name.
struct Me: AsyncParsableCommand, SignsIn, Borrows {
  static let configuration = CommandConfiguration(
    commandName: "me",
    abstract: "Get the signed-in user from Microsoft Graph.",
    discussion: """
      "llavero get /me" is its new name.

      Example:
        llavero me --select displayName,mail

      JSON: the user with Graph's own names, such as id, displayName, mail and userPrincipalName.
      """,
    shouldDisplay: false)

  @OptionGroup var selection: SelectOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup(title: "Client options") var lenderOptions: LenderOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  var signInScopes: [String] { ["User.Read"] }

  func run() async throws {
    let graph = try await graph(for: signInScopes)
    let user = try await graph.me(select: selection.names)
    if output.json { return Terminal.out(try json(user)) }
    printTable(of: user.properties)
  }
}

/// `llavero list --groups`
struct Groups: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "Former name of \"llavero list --groups\".", shouldDisplay: false)

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  func run() async throws { try await List.printGroups(of: store, output) }
}

/// `llavero adopt` without a name and, with `--fix`, a part of `llavero doctor --fix`
struct Sources: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources", abstract: "Former name of \"llavero adopt\" and \"llavero doctor --fix\".",
    shouldDisplay: false)

  @Flag(help: "Close files with tokens to others, and remove lock files of dead programs.")
  var fix = false

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  func run() async throws { try await OtherCaches.print(store, output, fix: fix) }
}

/// `llavero doctor --fix`, for one group
struct FormerClearOptions: ParsableArguments {
  @Flag(help: "Remove unreadable entries.")
  var damaged = false
}

extension Clear {
  func removeDamaged() async throws {
    let store = try cache.store
    let problems = try await cache.snapshot().problems
    var entries = UnreadableEntries(problems, in: group)
    if let found = entries, !isDryRun {
      entries = try await found.remove(from: store, isConfirmed: yes, advice: Self.confirmationAdvice)
    } else if !isDryRun, try await store.groups().contains(group) {
      // What remains of a group without entries, such as items without a secret.
      _ = try await store.remove(.damaged, in: group)
    }
    let count = entries?.removalCount ?? 0
    if output.json { return try printJSON(unreadable: count, problems: entries?.problems ?? []) }
    let verb = isDryRun ? "would be removed" : "removed"
    guard let entries else { return Terminal.out("0 records \(verb) from \(group.name).") }
    entries.descriptions(isDryRun ? "would be" : "was").forEach(Terminal.out)
    if count > 0 { Terminal.out("\(counted(count, "item")) \(verb) from \(group.name).") }
  }
}

/// `llavero import ADDRESS` and `llavero export ADDRESS`
struct Copy: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Former name of \"llavero import\" and \"llavero export\" with a store as address.",
    shouldDisplay: false)

  @Flag(name: .customLong("dry-run"), help: "Only print what would be copied.")
  var isDryRun = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var source: FormerSideOptions<SourceSide>
  @OptionGroup var target: FormerSideOptions<TargetSide>
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func run() async throws {
    try await Transfer.copy(
      group, from: source.store(store), to: target.store(store), isDryRun: isDryRun, output,
      verb: "copied", progress: "Copying", optionForOther: "--from-store or --to-store")
  }
}

/// The options of one of the two stores of `copy`.
struct FormerSideOptions<Side: CopySide>: ParsableArguments {
  @Option(
    name: .customLong(Side.name + "-store"), help: "The store that is copied \(Side.name).",
    transform: StoreAddress.init(_:))
  var address: StoreAddress?

  @Option(name: .customLong(Side.name + "-endpoints"), help: "Its endpoints (default: --endpoints).")
  var endpoints: String?

  @Option(name: .customLong(Side.name + "-prefix"), help: "Its prefix (default: --prefix).")
  var prefix: String?

  @OptionGroup var side: SideOptions<Side>

  /// Returns the options of this store. What is not named is that of both.
  func store(_ both: StoreOptions) -> StoreOptions {
    var options = side.store(at: address, beside: both)
    options.endpoints = endpoints ?? options.endpoints
    options.prefix = prefix ?? options.prefix
    return options
  }
}

/// The cache of another program, as `import` and `export` took it.
struct FormerPeerOptions<Side: CopySide>: ParsableArguments {
  @Option(name: .customLong(Side.name), help: "Another program's cache.")
  var name: String?
}
