import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import MSALExtensionsStore
import TokenCache

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all of a group as one serialized token cache that any MSAL library reads.",
    discussion: """
      To standard output, to a file, or with --to into where another program keeps its cache: there records \
      are merged one by one under that program's lock, of two for one thing the newer stays, and what else \
      it holds stays as it is.

      The output holds every token in clear. To a terminal it goes only with --reveal; a file is made \
      readable by you alone, and one that exists is not touched. When a part of the group cannot be read, \
      the rest is written and the exit code is 1.

      Examples:
        llavero export cache.json
        llavero export | some-program
        llavero export --to azure-identity-python --dry-run

      JSON, with --to only: group, peer, saved and kept (how many records); with --dry-run also dry_run and \
      records (what is new or newer, as in "llavero list").
      """)

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Argument(help: "A new file, or - for standard output.", completion: .file(extensions: ["json"]))
  var file = "-"

  @Flag(help: "Write to a terminal, too.")
  var reveal = false

  @Option(name: .customLong("to"), help: "Another program's cache, by its name in \"llavero sources\".")
  var target: String?

  @OptionGroup var peer: PeerOptions

  @Flag(name: .customLong("dry-run"), help: "Only say what would go to the other program's cache.")
  var isDryRun = false

  func validate() throws {
    if let target {
      guard file == "-", !reveal else { throw ValidationError("With --to, name no file.") }
      _ = try peer.peer(named: target)
    } else if output.json || isDryRun {
      throw ValidationError("--json and --dry-run go with --to: the export itself is JSON.")
    }
  }

  func run() async throws {
    if let target { return try await export(to: peer.peer(named: target)) }
    guard file != "-" || !Terminal.output.isTerminal || reveal else {
      throw Failure.Message(
        code: .usage, name: "reveal_required",
        message: "The export holds every token in clear and would stand on the terminal.",
        advice: "Name a file, send it to a program, or add --reveal.")
    }
    let snapshot = try await options.cache.snapshot()
    let document = snapshot.document
    ProblemSummary.report(snapshot.problems)
    let json = try document.json()
    if file == "-" {
      Terminal.out(printableJSON(String(decoding: json, as: UTF8.self)))
    } else {
      try writeToFile(json)
      let count = counted(document.recordCount, "record")
      Terminal.error("\(count) of \(options.group.name) written to \(printable(file)), in clear.")
    }
    try Transfer.check(snapshot, "The export", of: options.group)
  }

  // Not in run(): a span in an asynchronous function ends the compiler of Swift 6.2 ("inconsistent stack heights").
  private func writeToFile(_ json: Data) throws(Failure.Message) {
    guard writeNewFile(json.span, to: file) else {
      throw Failure.Message(
        name: "unwritable", message: "\(file) cannot be written: \(systemReason()).",
        advice: errno == EEXIST ? "Name a file that does not exist yet." : nil)
    }
  }

  private func export(to peer: PeerCache) async throws {
    let (group, cache) = (options.group, try options.cache)
    let snapshot = try await cache.snapshot()
    let document = snapshot.document.shared
    if !output.json { ProblemSummary.report(snapshot.problems) }
    let store = options.store.store(of: peer, group: group)
    let target = "the cache of \(peer.users)"
    if isDryRun {
      try await Transfer(
        preview: document, into: store.contents().document, cache.clouds, group: group, peer: peer.name
      ).print(output, verb: "exported", target: target)
    } else {
      let clouds = cache.clouds
      let summary = try await store.updateDocument { theirs in
        theirs.merge(document, in: clouds)
      }
      try Transfer(summary, group: group, peer: peer.name).print(output, verb: "exported", target: target)
      if let file = peer.file, summary.saved > 0, !output.json {
        Terminal.error("warning: The tokens stand in clear in \(printable(file)).")
      }
    }
    try Transfer.check(snapshot, "The export", of: options.group)
  }
}
