import ArgumentParser
import FoundationEssentials
import MSALExtensionsStore
import TokenCache

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Take a token cache of any MSAL library into a group.",
    discussion: """
      From a file, or with --from from where another program keeps its cache; "llavero sources" shows which \
      there are. Of two records for one thing the newer stays; what is in the group already is not lost. \
      What is imported is left as it is: a plaintext file still holds the tokens in clear, and "llavero \
      adopt" does something about that.

      Examples:
        llavero import ~/.azure/msal_token_cache.json
        some-program | llavero import - --group com.example.mail
        llavero import --from azure-identity-python --dry-run
        llavero import --from msal-extensions --location ~/.my_app/token_cache

      JSON: group, saved and kept (how many records); with --from also peer; with --dry-run also dry_run and \
      records (what is new or newer, as in "llavero list").
      """)

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Argument(help: "The file, or - for standard input.", completion: .file(extensions: ["json"]))
  var file: String?

  @Option(name: .customLong("from"), help: "Another program's cache, by its name in \"llavero sources\".")
  var source: String?

  @OptionGroup var peer: PeerOptions

  @Flag(name: .customLong("dry-run"), help: "Only say what would be imported.")
  var isDryRun = false

  func validate() throws {
    guard (file == nil) != (source == nil) else {
      throw ValidationError("Name a file, or another program's cache with --from.")
    }
    if let source { _ = try peer.peer(named: source) }
  }

  private static let advice =
    "It should be one JSON object with sections such as \"AccessToken\" and \"Account\"."

  func run() async throws {
    let cache = try options.cache
    let document = try await document()
    if isDryRun {
      let snapshot = try await cache.snapshot()
      if !output.json { ProblemSummary.report(snapshot.problems) }
      return try Transfer(
        preview: document, into: snapshot.document, cache.clouds, group: options.group, peer: source
      ).print(output, verb: "imported", target: options.group.name)
    }
    let summary = try await cache.import(document) { done, count in
      Terminal.progress("Importing: \(done) of \(count) accounts", isDone: done == count)
    }
    try Transfer(summary, group: options.group, peer: source)
      .print(output, verb: "imported", target: options.group.name)
  }

  private func document() async throws -> CacheDocument {
    if let source {
      let peer = try peer.peer(named: source)
      let contents = try await options.store.store(of: peer, group: options.group).contentsUnderLock()
      guard contents.copies > 0 else {
        throw Failure.Message(
          name: "not_found", message: "There is no cache of \(peer.users) in \(peer.place.description).",
          advice: "\"llavero sources\" shows what there is.")
      }
      return contents.document
    }
    return try Self.document(of: file ?? "-")
  }

  private static func document(of file: String) throws -> CacheDocument {
    let json = try InputFile.read(file)
    let name = InputFile.name(of: file)
    let document: CacheDocument
    do {
      document = try CacheDocument(json: json)
    } catch {
      throw Failure.Message(
        name: error.code.rawValue, message: "\(name): \(error.message)", advice: advice)
    }
    // The format accepts any JSON object, and would keep it forever.
    guard document.recordCount > 0 || document.isEmpty else {
      throw Failure.Message(
        name: "not_a_cache", message: "\(name): There is no record of a token cache in it.", advice: advice)
    }
    return document
  }
}
