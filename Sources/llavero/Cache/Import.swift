import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import MSALExtensionsStore
import TokenCache

struct Import: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import a token cache into a group.",
    discussion: """
      The address is a file of any MSAL library, - for standard input, the name of another program's cache \
      ("llavero adopt" lists them), or a store: \(StoreAddress.forms). A \
      file named like one of these is ./NAME. From a store the same group is imported.

      Of two records for the same thing the newer is kept; nothing in the group is lost. The imported cache is \
      not changed: a plaintext file keeps its tokens until "llavero adopt" moves them. The key of bound tokens \
      is not imported; such tokens are requested again without a person.

      Examples:
        llavero import ~/.azure/msal_token_cache.json
        some-program | llavero import - --group com.example.mail
        llavero import azure-identity-python --dry-run
        llavero import msal-extensions --location ~/.app/cache
        llavero import file:/mnt/backup --from-key passphrase

      JSON: group, saved and kept (how many records); from another program also peer; from a store also from \
      and to (kinds of store), store (the address of that into which it is imported), key (its source), \
      account_count, problems (of the imported store); with --dry-run also dry_run, records (new or newer, as in "llavero list") and the problems of the group.
      """)

  @Argument(help: "A file, a cache, a store or -.", completion: .file())
  var address: String

  @Flag(name: .customLong("dry-run"), help: "Print what would be imported.")
  var isDryRun = false

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Options for caches of other programs") var peer: PeerOptions
  @OptionGroup(title: "Options for a store as address") var side: SideOptions<SourceSide>
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func validate() throws { _ = try source }

  private var source: CacheAddress {
    get throws { try CacheAddress(address, peer, side) }
  }

  func run() async throws {
    switch try source {
    case .store(let address):
      let from = side.store(at: address, beside: store)
      try await Transfer.copy(
        group, from: from, to: store, isDryRun: isDryRun, output, verb: "imported",
        progress: "Importing")
    case .peer(let peer):
      let cache = try cache
      let contents = try await store.store(of: peer, group: group).contentsUnderLock()
      guard contents.copies > 0 else {
        throw Failure(
          "not_found", "No cache of \(peer.users) in \(peer.place.description).",
          advice: "\"llavero adopt\" lists the caches of other programs.")
      }
      try await add(contents.document, of: peer.name, to: cache)
    case .file(let path):
      try store.requireStore()
      // Before the connection to etcd, from which on a signal does not end the wait for input.
      let document = try Self.document(of: path)
      try await add(document, of: nil, to: cache)
    }
  }

  private func add(_ document: CacheDocument, of peer: String?, to cache: TokenCacheAccessor) async throws {
    let transfer = try await Transfer(
      document, into: cache, peer: peer, isDryRun: isDryRun, output, progress: "Importing")
    try transfer.print(output, verb: "imported", target: group.name)
  }

  private static let advice =
    "Expected one JSON object with sections such as \"AccessToken\" and \"Account\"."

  private static func document(of file: String) throws -> CacheDocument {
    let json = try readInput(file)
    let name = inputName(file)
    let document: CacheDocument
    do {
      document = try CacheDocument(json: json)
    } catch {
      throw Failure(error.code.rawValue, "\(name): \(error.message)", advice: advice)
    }
    // The format accepts any JSON object, and would keep it forever.
    guard document.recordCount > 0 || document.isEmpty else {
      throw Failure("not_a_cache", "\(name) is not a token cache: it has no records.", advice: advice)
    }
    return document
  }
}
