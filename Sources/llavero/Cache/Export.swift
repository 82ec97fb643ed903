import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import MSALExtensionsStore
import TokenCache

struct Export: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export a group as a token cache for any MSAL library.",
    discussion: """
      The address is a new file, - for standard output, the name of another program's cache ("llavero adopt" \
      lists them), or a store: keyring, file, file:DIR or etcd+https://HOST:PORT/PREFIX. A file named like one \
      of these is ./NAME. Into a cache or store records are merged: of two records for the same thing the \
      newer is kept, and other records are not changed.

      A file and the output contain every token in plaintext. A file is readable by you only, and an existing \
      one is not changed; a terminal requires --reveal. If a part of the group cannot be read, the rest is \
      exported and the exit code is 1. The key of bound tokens is not exported.

      Examples:
        llavero export cache.json
        llavero export | some-program
        llavero export azure-identity-python --dry-run
        llavero export file:/mnt/backup --to-key passphrase

      JSON, not for standard output: group, saved and kept (how many records); to another program also peer; \
      to a store also from and to (kinds of store), accounts (how many), problems; with --dry-run also dry_run \
      and records (new or newer, as in "llavero list").
      """)

  @Argument(help: "A new file, -, the name of a cache, or a store (default: -).", completion: .file())
  var address: String?

  @Flag(help: "Print tokens to a terminal, too.")
  var reveal = false

  @Flag(name: .customLong("dry-run"), help: "Only print what would be exported.")
  var isDryRun = false

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Options for caches of other programs") var peer: PeerOptions
  @OptionGroup(title: "Options for a store as address") var side: SideOptions<TargetSide>
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(visibility: .hidden) var former: FormerExportOptions

  func validate() throws {
    switch try target {
    case .file("-"):
      guard !output.json, !isDryRun else {
        throw ValidationError("--json and --dry-run require a file, a cache or a store: the export is JSON.")
      }
    default:
      guard !reveal else { throw ValidationError("--reveal is for standard output.") }
    }
  }

  private var target: CacheAddress {
    get throws {
      guard let name = former.target else { return try CacheAddress(address ?? "-", peer, side) }
      guard address == nil || address == "-" else { throw ValidationError("With --to, name no file.") }
      return .peer(try peer.peer(named: name))
    }
  }

  func run() async throws {
    switch try target {
    case .store(let address):
      let to = side.store(at: address, beside: options.store)
      try await Transfer.copy(
        options.group, from: options.store, to: to, isDryRun: isDryRun, output, verb: "exported",
        progress: "Exporting", optionForOther: "--store")
    case .peer(let peer): try await export(to: peer)
    case .file("-"): try await print()
    case .file(let path): try await export(to: path)
    }
  }

  private func print() async throws {
    guard !Terminal.output.isTerminal || reveal else {
      throw Failure.Message(
        code: .usage, name: "reveal_required",
        message: "The export would print every token to the terminal.",
        advice: "Name a file, pipe it to a program, or add --reveal.")
    }
    let snapshot = try await snapshot()
    Terminal.out(printableJSON(String(decoding: try snapshot.document.json(), as: UTF8.self)))
    try Transfer.check(snapshot, "The export", of: options.group)
  }

  private func export(to file: String) async throws {
    let snapshot = try await snapshot()
    let (group, document) = (options.group, snapshot.document)
    if isDryRun {
      if FileStatus(file) != nil { throw Self.notWritable(file, EEXIST) }
      try Transfer(
        preview: document, into: CacheDocument(), options.cache.clouds, group: group
      ).print(output, verb: "exported", target: file)
    } else {
      try Self.write(document.json(), to: file)
      let count = document.recordCount
      if output.json {
        try Transfer(ImportSummary(saved: count), group: group).print(output, verb: "", target: file)
      } else {
        Terminal.error(
          "\(counted(count, "record")) of \(group.name) written to \(printable(file)), in plaintext.")
      }
    }
    try Transfer.check(snapshot, "The export", of: group)
  }

  private func snapshot() async throws -> CacheSnapshot {
    let snapshot = try await options.cache.snapshot()
    output.report(snapshot.problems)
    return snapshot
  }

  // Not in an asynchronous function: a span there ends the compiler of Swift 6.2 ("inconsistent stack heights").
  private static func write(_ json: Data, to file: String) throws(Failure.Message) {
    guard writeNewFile(json.span, to: file) else { throw notWritable(file, errno) }
  }

  private static func notWritable(_ file: String, _ code: Int32) -> Failure.Message {
    .unwritable(file, code, advice: code == EEXIST ? "Name a file that does not exist yet." : nil)
  }

  private func export(to peer: PeerCache) async throws {
    let group = options.group
    let snapshot = try await snapshot()
    let document = snapshot.document.shared
    let store = options.store.store(of: peer, group: group)
    let clouds = try options.cache.clouds
    let target = "the cache of \(peer.users)"
    if isDryRun {
      try await Transfer(
        preview: document, into: store.contents().document, clouds, group: group, peer: peer.name
      ).print(output, verb: "exported", target: target)
    } else {
      let summary = try await store.updateDocument { theirs in theirs.merge(document, in: clouds) }
      try Transfer(summary, group: group, peer: peer.name).print(output, verb: "exported", target: target)
      if let file = peer.file, summary.saved > 0, !output.json {
        Terminal.warn("\(file) contains the tokens in plaintext.")
      }
    }
    try Transfer.check(snapshot, "The export", of: group)
  }
}
