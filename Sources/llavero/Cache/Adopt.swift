import ArgumentParser
import MSALExtensionsStore
import Synchronization
import TokenCache

struct Adopt: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Move tokens that other programs keep in clear into the keyring.",
    discussion: """
      Imports each plaintext cache, reads it back, and then, when you have agreed, writes over the file and \
      removes it. Until then the file is as it was, and so it is after any failure. With --keep it stays for \
      good. The programs that wrote the files will not find them any more; what they do then is said before \
      the question; a no is exit code 5. One that cannot be taken hinders none of the others; all such are told \
      at the end.

      What was written over may live on: in snapshots and backups, and on solid-state disks and file systems \
      that copy on write in blocks that nothing reaches but a look at the bare disk. Sign out where that \
      matters, so that the server forgets the tokens.

      Examples:
        llavero adopt azure-cli
        llavero adopt --all --yes
        llavero adopt --all --keep

      JSON: group, adopted: [name, path, saved and kept (how many records), removed], failed: [name, path, \
      code, message, advice].
      """)

  private struct Result: Encodable {
    struct Adopted: Encodable {
      let name: String
      let path: String
      let saved: Int
      let kept: Int
      let removed: Bool
    }
    struct Failed: Encodable {
      let name: String
      let path: String
      let code: String
      let message: String
      let advice: String?
    }
    let group: String
    let adopted: [Adopted]
    let failed: [Failed]
  }

  /// A problem of all caches: the group cannot be written.
  private struct GroupFailure: Error {
    let error: CacheError
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
    let cache = try options.cache
    var adopted: [Result.Adopted] = []
    var failures: [(peer: PeerCache, message: Failure.Message)] = []
    for peer in all ? PeerRegistry().caches.filter({ $0.file != nil }) : try named() {
      do {
        if let result = try await adopt(peer, into: cache) { adopted.append(result) }
      } catch let failure as GroupFailure {
        failures.insert((peer, failure.error.toolMessage), at: 0)
        break
      } catch let error as any ToolError {
        failures.append((peer, error.toolMessage))
      }
    }
    // A single failure is reported by its error alone.
    if output.json, failures.count != 1 || !adopted.isEmpty {
      let failed = failures.map { peer, failure in
        Result.Failed(
          name: peer.name, path: peer.file ?? "", code: failure.name, message: failure.message,
          advice: failure.advice)
      }
      Terminal.out(try json(Result(group: options.group.name, adopted: adopted, failed: failed)))
    } else if adopted.isEmpty, failures.isEmpty {
      Terminal.error("There are no tokens in clear.")
    }
    // The first ends the process.
    for (_, failure) in failures.dropFirst() where !output.json {
      Terminal.error("warning: " + printable(failure.message))
    }
    if let failure = failures.first { throw failure.message }
    let declined = Self.declined.withLock { $0 }
    guard declined.isEmpty else {
      throw Failure.Message(
        code: .cancelled, name: "cancelled",
        message:
          "\(declined.joined(separator: ", ")) \(declined.count == 1 ? "is as it was" : "are as they were").")
    }
  }

  /// The files that the person wants to keep.
  private static let declined = Mutex<[String]>([])

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

  private func adopt(_ peer: PeerCache, into cache: TokenCacheAccessor) async throws -> Result.Adopted? {
    guard let path = peer.file else { return nil }
    do throws(AdoptionError) {
      let adoption = try await options.store.store(of: peer, group: options.group).adopt(into: cache) {
        mayRemove(peer, path, $0)
      }
      if adoption.isRemoved, !output.json {
        let fate = peer.isSignalOfAnItem ? "emptied" : "removed"
        Terminal.out("\(printable(path)) was written over and \(fate).")
        Terminal.error("Copies in snapshots, in backups and on the bare disk may live on.")
      }
      return Result.Adopted(
        name: peer.name, path: path, saved: adoption.summary.saved, kept: adoption.summary.kept,
        removed: adoption.isRemoved)
    } catch {
      switch error {
      case .empty where all: return nil
      case .empty:
        throw Failure.Message(
          name: "not_found", message: "There are no tokens in \(path).",
          advice: "\"llavero sources\" shows what there is.")
      case .peer(let error): throw error
      case .group(let error):
        throw [.damaged, .rolledBack, .tooLarge].contains(error.code) ? error : GroupFailure(error: error)
      case .notStored(let count):
        throw Failure.Message(
          name: "not_stored",
          message: "\(counted(count, "record")) of \(path) could not be read back from the keyring.",
          advice: "The file was left as it is. Try again.")
      case .inUse:
        throw Failure.Message(
          name: "in_use", message: "\(path) changes all the time, so it was left as it is.",
          advice: "End the program that writes to it, and try again.")
      }
    }
  }

  private func mayRemove(_ peer: PeerCache, _ path: String, _ imported: ImportSummary) -> Bool {
    if !output.json {
      Terminal.out(
        "\(counted(imported.saved, "record")) of \(printable(path)) imported into \(options.group.name), "
          + "\(imported.kept) there already.")
    }
    return !keep && agreed(peer, path)
  }

  private func agreed(_ peer: PeerCache, _ path: String) -> Bool {
    // With --json, standard error is for an error alone.
    if let consequence = peer.afterRemoval, !output.json { Terminal.error(consequence) }
    if peer.name == "azure-cli", !output.json {
      Terminal.error(
        "With \"az config set core.encrypt_token_cache=true\" it uses the keyring, where \"llavero export --to "
          + "azure-cli-encrypted\" puts the tokens, which saves that sign-in. But in Azure CLI 2.91 \"az logout\" "
          + "and saving a service principal then fail.")
    }
    if yes { return true }
    let fate = peer.isSignalOfAnItem ? "empty" : "remove"
    if Terminal.confirm("Write over \(printable(path)) and \(fate) it?") { return true }
    Self.declined.withLock { $0.append(path) }
    return false
  }
}
