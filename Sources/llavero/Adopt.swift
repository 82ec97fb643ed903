import ArgumentParser
import MSALExtensionsStore
import TokenCache
import ToolSupport

struct Adopt: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Move tokens that other programs keep in clear into the keyring.",
    discussion: """
      Imports each plaintext cache, reads it back, and then, when you have agreed, writes over the file and \
      removes it. Until then the file is as it was, and so it is after any failure. With --keep it stays for \
      good. The programs that wrote the files will not find them any more; what they do then is said before \
      the question.

      What was written over may live on: in snapshots and backups, and on solid-state disks and file systems \
      that copy on write in blocks that nothing reaches but a look at the bare disk. Sign out where that \
      matters, so that the server forgets the tokens.

      Examples:
        llavero adopt azure-cli
        llavero adopt --all --yes
        llavero adopt --all --keep

      JSON: group, adopted: [name, path, saved and kept (how many records), removed].
      """)

  private struct Result: Encodable {
    struct Adopted: Encodable {
      let name: String
      let path: String
      let saved: Int
      let kept: Int
      let removed: Bool
    }
    let group: String
    let adopted: [Adopted]
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Argument(help: "Plaintext caches, by their names in \"llavero sources\".")
  var names: [String] = []

  @Flag(help: "All plaintext caches.")
  var all = false

  @Flag(help: "Leave the files as they are.")
  var keep = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  func validate() throws {
    guard names.isEmpty == all else { throw ValidationError("Name plaintext caches, or add --all.") }
    guard !keep || !yes else { throw ValidationError("Choose between --keep and --yes.") }
    _ = try named()
  }

  func run() async throws {
    guard keep || yes || Terminal.isInput else {
      throw Failure.Message(
        code: .interactionRequired, name: "confirmation_required",
        message: "Nothing was done: there is nobody to ask whether the files may go.",
        advice: "Add --yes to remove them, or --keep to leave them.")
    }
    var adopted: [Result.Adopted] = []
    var failure: (any Error)?
    for peer in all ? PeerRegistry().caches.filter({ $0.file != nil }) : try named() {
      do {
        if let result = try await adopt(peer) { adopted.append(result) }
      } catch let error as CacheError where all && error.code == .damaged {
        // One that cannot be read keeps none of the others in clear.
        if failure != nil { Terminal.error("warning: " + printable(error.message)) }
        failure = failure ?? error
      } catch {
        failure = error
        break
      }
    }
    if output.json, failure == nil || !adopted.isEmpty {
      Terminal.out(try json(Result(group: options.group.name, adopted: adopted)))
    } else if adopted.isEmpty, failure == nil {
      Terminal.error("There are no tokens in clear.")
    }
    if let failure { throw failure }
  }

  private func named() throws -> [PeerCache] {
    let registry = PeerRegistry()
    return try names.map { name in
      guard let peer = registry[name], peer.file != nil else {
        let known = registry.caches.filter { $0.file != nil }.map(\.name).joined(separator: ", ")
        throw ValidationError("\(name) is no plaintext cache. There are \(known).")
      }
      return peer
    }
  }

  private func adopt(_ peer: PeerCache) async throws -> Result.Adopted? {
    guard let path = peer.file else { return nil }
    let store = options.store.store(of: peer, group: options.group)
    var total = ImportSummary()
    // Once more when the program writes to its file meanwhile.
    for _ in 0..<3 {
      let document = try await store.settledContents().document
      guard document.recordCount > 0 else {
        // The program has emptied its file in the meantime.
        if total != ImportSummary() { return result(peer, path, total, removed: false) }
        if all { return nil }
        throw Failure.Message(
          name: "not_found", message: "There are no tokens in \(path).",
          advice: "\"llavero sources\" shows what there is.")
      }
      let summary = try await options.cache.import(document)
      total = ImportSummary(saved: total.saved + summary.saved, kept: summary.kept)
      try await verify(document, path)
      if !output.json {
        Terminal.out(
          "\(counted(total.saved, "record")) of \(printable(path)) imported into \(options.group.name), "
            + "\(total.kept) there already.")
      }
      guard !keep, try agreed(peer, path) else { return result(peer, path, total, removed: false) }
      if try await store.discardPlaintext(holding: document) {
        if !output.json {
          let fate = peer.isSignalOfAnItem ? "emptied" : "removed"
          Terminal.out("\(printable(path)) was written over and \(fate).")
          Terminal.error("Copies in snapshots, in backups and on the bare disk may live on.")
        }
        return result(peer, path, total, removed: true)
      }
    }
    throw Failure.Message(
      name: "in_use", message: "\(path) changes all the time, so it was left as it is.",
      advice: "End the program that writes to it, and try again.")
  }

  /// Reads back what was imported: nothing of the file may be missing.
  private func verify(_ document: CacheDocument, _ path: String) async throws {
    let cache = options.cache
    var stored = try await cache.snapshot().document
    let missing = stored.merge(document, in: cache.clouds).saved
    guard missing == 0 else {
      throw Failure.Message(
        name: "not_stored",
        message: "\(counted(missing, "record")) of \(path) could not be read back from the keyring.",
        advice: "The file was left as it is. Try again.")
    }
  }

  private func agreed(_ peer: PeerCache, _ path: String) throws -> Bool {
    // With --json, standard error is for an error alone.
    if let consequence = peer.afterRemoval, !output.json { Terminal.error(consequence) }
    if yes { return true }
    let name = printable(path)
    if Terminal.confirm("Write over \(name) and \(peer.isSignalOfAnItem ? "empty" : "remove") it?") {
      return true
    }
    Terminal.error("\(name) is as it was.")
    return false
  }

  private func result(
    _ peer: PeerCache, _ path: String, _ summary: ImportSummary, removed: Bool
  ) -> Result.Adopted {
    Result.Adopted(name: peer.name, path: path, saved: summary.saved, kept: summary.kept, removed: removed)
  }
}
