import ArgumentParser
import MSALExtensionsStore
import TokenCache

struct Adopt: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Move plaintext tokens of other programs into the store.",
    discussion: """
      Without a name it lists the caches of other programs, in the keyring and in plaintext files: Azure CLI, \
      the Azure SDKs, Git Credential Manager, azureauth and others.

      With a name it imports the plaintext cache and reads it back. Then it asks whether to overwrite and \
      remove the file; a no is exit code 5, and --keep does not ask. After a failure the file is unchanged. \
      What the program does without its file is printed before the question. A cache that fails is skipped \
      and reported at the end.

      Overwritten tokens may survive in snapshots, in backups, on solid-state disks and on copy-on-write file \
      systems. Where that matters, revoke the accounts' sessions at the server, such as in the Entra admin \
      center: signing out here does not.

      Examples:
        llavero adopt
        llavero adopt azure-cli
        llavero adopt --all --yes
        llavero adopt --all --keep

      JSON, without a name: sources: [name, users, place (keyring or file), path, schema, is_encrypted, \
      account_count and record_count (missing where unreadable), findings: [kind, path, detail]], \
      warnings (what could not be read). Otherwise: group, adopted: [name, path, saved and kept (how many \
      records), removed], failed: [name, path, code, message, advice].
      """)

  @Argument(help: "Plaintext caches to move (default: list all caches).", completion: .plaintextCaches)
  var names: [String] = []

  @Flag(help: "Move all plaintext caches.")
  var all = false

  @Flag(help: "Keep the files unchanged.")
  var keep = false

  @Flag(name: .shortAndLong, help: "Remove the files without asking.")
  var yes = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func validate() throws {
    guard names.isEmpty || !all else { throw ValidationError("Choose between names and --all.") }
    guard !keep || !yes else { throw ValidationError("Choose between --keep and --yes.") }
    guard !names.isEmpty || all || !(keep || yes) else {
      throw ValidationError("Name plaintext caches, or add --all.")
    }
    _ = try namedCaches()
  }

  func run() async throws {
    if names.isEmpty && !all { return try await OtherCaches.print(store, output) }
    if !keep, !yes {
      try Terminal.requirePerson(
        "Nothing was moved", advice: "Add --yes to remove the files, or --keep to keep them.")
    }
    let cache = try cache
    var adoptions: [Members] = []
    var failures: [(peer: PeerCache, message: Failure)] = []
    var declined: [String] = []
    caches: for peer in all ? PeerRegistry().caches.filter({ $0.file != nil }) : try namedCaches() {
      let path = peer.file ?? ""
      do throws(AdoptionError) {
        adoptions.append(try await adopt(peer, path, into: cache, &declined))
      } catch {
        switch error {
        case .empty where all: break
        case .group(let error) where ![.damaged, .newerVersion, .rolledBack, .tooLarge].contains(error.code):
          // It cannot be written, so the other caches would fail, too.
          failures.insert((peer, error.asFailure), at: 0)
          break caches
        default: failures.append((peer, Self.message(of: error, path)))
        }
      }
    }
    // A single failure is reported by its error alone.
    if output.json, failures.count != 1 || !adoptions.isEmpty {
      let failed = failures.map { peer, failure -> Members in
        [
          "name": peer.name, "path": peer.file ?? "", "code": failure.name, "message": failure.message,
          "advice": failure.advice,
        ]
      }
      try Terminal.out(["group": group.name, "adopted": adoptions, "failed": failed])
    } else if adoptions.isEmpty, failures.isEmpty {
      Terminal.note("No plaintext token caches found.")
    }
    // The first ends the process.
    for (_, failure) in failures.dropFirst() where !output.json { Terminal.warn(failure.message) }
    if let failure = failures.first { throw failure.message }
    guard declined.isEmpty else {
      throw Failure.cancelled("Not removed: \(declined.joined(separator: ", ")).")
    }
  }

  private func namedCaches() throws -> [PeerCache] {
    let registry = PeerRegistry()
    return try names.map { name in
      guard let peer = registry[name], peer.file != nil else {
        let known = registry.caches.filter { $0.file != nil }.map(\.name).joined(separator: ", ")
        throw ValidationError("\(name) is not a plaintext cache: expected one of \(known).")
      }
      return peer
    }
  }

  private func adopt(
    _ peer: PeerCache, _ path: String, into cache: TokenCacheAccessor, _ declined: inout [String]
  ) async throws(AdoptionError) -> Members {
    let adoption = try await store.store(of: peer, group: group).adopt(into: cache) {
      imported in
      if !output.json {
        Terminal.out(
          "\(counted(imported.saved, "record")) of \(printable(path)) imported into \(group.name), "
            + "\(imported.kept) there already.")
      }
      if keep { return false }
      if confirmRemoval(of: peer, path) { return true }
      declined.append(path)
      return false
    }
    if adoption.isRemoved, !output.json {
      let fate = peer.isSignalOfAnItem ? "emptied" : "removed"
      Terminal.out("\(printable(path)) was overwritten and \(fate).")
      Terminal.note("Copies may remain in snapshots, in backups and on the disk.")
    }
    return [
      "name": peer.name, "path": path, "saved": adoption.summary.saved, "kept": adoption.summary.kept,
      "removed": adoption.isRemoved,
    ]
  }

  private static func message(of error: AdoptionError, _ path: String) -> Failure {
    switch error {
    case .empty:
      Failure(
        "not_found", "No tokens in \(path).", advice: "\"llavero adopt\" lists the caches of other programs.")
    case .peer(let error), .group(let error): error.asFailure
    case .notStored(let count):
      Failure(
        "not_stored", "\(counted(count, "record")) of \(path) could not be read back from the store.",
        advice: "The file is unchanged. Try again.")
    case .inUse:
      Failure(
        "in_use", "\(path) was not moved: it keeps changing.",
        advice: "Stop the program that writes to it, and try again.")
    }
  }

  private func confirmRemoval(of peer: PeerCache, _ path: String) -> Bool {
    // With --json, standard error is for an error alone.
    if let consequence = peer.afterRemoval, !output.json { Terminal.error(consequence) }
    if peer.name == "azure-cli", !output.json {
      Terminal.error(
        "To save that sign-in, run \"az config set core.encrypt_token_cache=true\" and \"llavero export "
          + "azure-cli-encrypted\". But in Azure CLI 2.91 \"az logout\" and saving a service principal then fail."
      )
    }
    let fate = peer.isSignalOfAnItem ? "empty" : "remove"
    return yes || Terminal.confirm("Overwrite \(printable(path)) and \(fate) it?")
  }
}
