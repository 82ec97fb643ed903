import ArgumentParser
import TokenCache

struct Copy: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy a group from one store into another.",
    discussion: """
      Records are merged as "llavero import" merges them: what the other store has stays, of two records for one thing \
      the newer stays, and a copy that is made again changes nothing. The store that is copied from is left as it is. \
      What cannot be read there is named and left out; the rest is copied, and the exit code is 1. The key of bound \
      tokens stays where it was made: such tokens are asked for anew, without a person.

      What is said of one side goes before what --store, --key and the others say of both.

      Examples:
        llavero copy --to-store file --key file:/etc/example/cache.key --dry-run
        llavero copy --from-store keyring --to-store etcd --endpoints https://etcd-1.example.com:2379 \\
          --key credential:cache-key
        llavero copy --from-store file --from-key passphrase --to-store keyring --group com.example.mail

      JSON: group, from and to (the kinds of store), accounts (how many there are to copy), saved and kept (how many \
      records), problems (of the store that is copied from, as in "llavero list"); with --dry-run also dry_run and records \
      (what is new or newer, as in "llavero list").
      """)

  @OptionGroup var options: GroupOptions
  @OptionGroup var source: SideOptions<SourceSide>
  @OptionGroup var target: SideOptions<TargetSide>
  @OptionGroup var output: OutputOptions

  @Flag(name: .customLong("dry-run"), help: "Only say what would be copied.")
  var isDryRun = false

  func run() async throws {
    try options.store.requireStore()
    let (group, from, to) = (options.group, source.store(options.store), target.store(options.store))
    guard !from.settings.isSameStore(as: to.settings) else {
      throw Failure.Message(
        code: .usage, name: "same_store", message: "Both stores are the same.",
        advice: "Name the other one with --from-store or --to-store.")
    }
    let caches = try [from, to].map { TokenCacheAccessor(store: try $0.store, group: group) }
    let snapshot = try await caches[0].snapshot()
    let (document, problems) = (snapshot.document, snapshot.problems)
    if !output.json { ProblemSummary.report(problems) }
    guard !document.isEmpty || !problems.isEmpty else {
      throw Failure.Message(
        name: "not_found", message: "There is nothing of \(group.name) to copy.",
        advice: "\"llavero groups\" shows which groups a store has.")
    }
    var transfer =
      if isDryRun {
        Transfer(
          preview: document, into: try await caches[1].snapshot().document, caches[1].clouds, group: group)
      } else {
        Transfer(
          try await caches[1].import(document) { done, count in
            Terminal.progress("Copying: \(done) of \(count) accounts", isDone: done == count)
          }, group: group)
      }
    (transfer.from, transfer.to) = (from.settings.kind.rawValue, to.settings.kind.rawValue)
    (transfer.accounts, transfer.problems) = (document.accountCount, problems.map(ProblemSummary.init))
    try transfer.print(output, verb: "copied", target: "\(group.name), \(to.settings.kind.place)")
    try Transfer.check(snapshot, "The copy", of: group)
  }
}

/// Which side of a copy options are about.
protocol CopySide: Sendable {
  static var name: String { get }
}

enum SourceSide: CopySide { static let name = "from" }
enum TargetSide: CopySide { static let name = "to" }

/// The options of one of two stores.
struct SideOptions<Side: CopySide>: ParsableArguments {
  @Option(
    name: .customLong(Side.name + "-store"), help: "The store that is copied \(Side.name).",
    transform: StoreAddress.init(_:))
  var kind: StoreAddress?

  @Option(name: .customLong(Side.name + "-key"), help: "Its key, as --key.")
  var key: KeyChoice?

  @Option(name: .customLong(Side.name + "-collection"), help: "Its collection, as --collection.")
  var collection: String?

  @Option(name: .customLong(Side.name + "-endpoints"), help: "Its endpoints, as --endpoints.")
  var endpoints: String?

  @Option(name: .customLong(Side.name + "-prefix"), help: "Its prefix, as --prefix.")
  var prefix: String?

  @Option(name: .customLong(Side.name + "-etcd-user"), help: "Its user, as --etcd-user.")
  var etcdUser: String?

  @Option(name: .customLong(Side.name + "-etcd-password"), help: "Its password, as --etcd-password.")
  var etcdPassword: KeyChoice?

  /// The options of both, changed by those of this one.
  func store(_ both: StoreOptions) -> StoreOptions {
    var options = both
    options.address = kind ?? both.address
    options.key = key ?? both.key
    options.collection = collection ?? both.collection
    options.endpoints = endpoints ?? both.endpoints
    options.prefix = prefix ?? both.prefix
    options.etcdUser = etcdUser ?? both.etcdUser
    options.etcdPassword = etcdPassword ?? both.etcdPassword
    return options
  }
}
