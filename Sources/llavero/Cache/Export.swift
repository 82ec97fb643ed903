import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import MSALExtensionsStore
import TokenCache

struct Export: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export a group for any MSAL library.",
    discussion: """
      The address is a new file, - for standard output, the name of another program's cache ("llavero adopt" \
      lists them), or a store: \(StoreAddress.forms). A file named like one \
      of these is ./NAME. Into a cache or store records are merged: of two records for the same thing the \
      newer is kept, and other records are not changed.

      A file and the output contain every token in plaintext. A file is readable by you only, and an existing \
      one is not changed; a terminal requires --reveal. If a part of the group cannot be read, the rest is \
      exported and the exit code is 1. Bound tokens and tokens for claims go into a store only: other programs \
      take them for bearer tokens. The key of bound tokens is not exported.

      Examples:
        llavero export cache.json
        llavero export | some-program
        llavero export azure-identity-python --dry-run
        llavero export file:/mnt/backup --to-key passphrase

      JSON, not for standard output: group, saved and kept (how many records), problems; to another program also \
      peer and warnings; to a store also from and to (kinds of store), store (its address), key (its source), \
      account_count; with --dry-run also dry_run and records (new or newer, as in "llavero list").
      """)

  @Argument(help: "File, cache, store.", completion: .file())
  var address = "-"

  @Flag(help: "Print tokens to a terminal, too.")
  var reveal = false

  @Flag(name: .customLong("dry-run"), help: "Print what would be exported.")
  var isDryRun = false

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Options for caches of other programs") var peer: PeerOptions
  @OptionGroup(title: "Options for a store as address") var side: SideOptions<TargetSide>
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func validate() throws {
    if case .file("-") = try target {
      guard !output.json, !isDryRun else {
        throw ValidationError("--json and --dry-run require a file, a cache or a store: the export is JSON.")
      }
    } else if reveal {
      throw ValidationError("--reveal is for standard output.")
    }
  }

  private var target: CacheAddress {
    get throws { try CacheAddress(address, peer, side) }
  }

  func run() async throws {
    let target = try target
    if case .store(let address) = target {
      return try await Transfer.copy(
        group, from: store, to: side.store(at: address, beside: store), isDryRun: isDryRun, output,
        verb: "exported", progress: "Exporting")
    }
    if case .file("-") = target, Terminal.output.isTerminal, !reveal {
      throw Failure(
        "reveal_required", "The export would print every token to the terminal.", code: .usage,
        advice: "Name a file, pipe it to a program, or add --reveal.")
    }
    let cache = try cache
    let snapshot = try await cache.snapshot()
    output.report(snapshot.problems)
    switch target {
    case .file("-"):
      Terminal.out(printableJSON(String(decoding: try snapshot.document.serialized.json(), as: UTF8.self)))
    case .file(let path): try export(snapshot, to: path, cache.clouds)
    case .peer(let peer): try await export(snapshot, to: peer, cache.clouds)
    case .store: break
    }
    try Transfer.check(snapshot, "The export", of: group)
  }

  // Not an asynchronous function: a span there ends the compiler of Swift 6.2 ("inconsistent stack heights").
  private func export(_ snapshot: CacheSnapshot, to file: String, _ clouds: CloudInstances) throws {
    let document = snapshot.document.serialized
    let count = document.recordCount
    var transfer = Transfer(ImportSummary(saved: count), group: group)
    if isDryRun {
      if FileStatus(file) != nil { throw Self.notWritable(file, EEXIST) }
      transfer = Transfer(preview: document, into: CacheDocument(), clouds, group: group)
    } else {
      guard writeNewFile(try document.json().span, to: file) else { throw Self.notWritable(file, errno) }
    }
    transfer.problems = snapshot.problems.map(\.members)
    if isDryRun || output.json { return try transfer.print(output, verb: "exported", target: file) }
    Terminal.error(
      "\(counted(count, "record")) of \(group.name) written to \(printable(file)), in plaintext.")
  }

  private static func notWritable(_ file: String, _ code: Int32) -> Failure {
    .unwritable(file, code, advice: code == EEXIST ? "Name a file that does not exist yet." : nil)
  }

  private func export(_ snapshot: CacheSnapshot, to peer: PeerCache, _ clouds: CloudInstances) async throws {
    let (store, document) = (store.store(of: peer, group: group), snapshot.document.shared)
    var transfer =
      if isDryRun {
        Transfer(
          preview: document, into: try await store.contents().document, clouds, group: group, peer: peer.name)
      } else {
        Transfer(
          try await store.updateDocument { theirs in theirs.merge(document, in: clouds) }, group: group,
          peer: peer.name)
      }
    transfer.problems = snapshot.problems.map(\.members)
    if let file = peer.file, transfer.saved > 0, !isDryRun {
      transfer.warnings = ["\(file) contains the tokens in plaintext."]
    }
    try transfer.print(output, verb: "exported", target: "the cache of \(peer.users)")
    for warning in transfer.warnings ?? [] where !output.json { Terminal.warn(warning) }
  }
}
