import ArgumentParser
import Sealing

struct Rekey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the store in files or in etcd a new key.",
    discussion: """
      Every account of every group is sealed again with a new random key, and that is put under the passphrase or \
      key named by --new-key; without it, under the one of --key, and a passphrase is asked for anew. It may be \
      interrupted: from then on the new key opens the store, and the command finishes the work when it is run \
      again.

      Examples:
        llavero rekey --store file --key passphrase
        llavero rekey --store file --key passphrase --new-key keyring

      JSON: resealed (how many files have the new key), left (how many cannot be opened; their key is kept).
      """)

  private struct Result: Encodable {
    let resealed: Int
    let left: Int
  }

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Option(help: "Where the new key comes from: \(KeyChoice.forms).")
  var newKey: KeyChoice?

  func run() async throws {
    guard let sealedStore = try store.store as? any SealedStore else {
      throw Failure.Message(
        code: .usage, name: "no_file_store",
        message: "Only the stores in files and in etcd have a key to change.",
        advice: "Add --store file, or --store etcd, and --key.")
    }
    let summary = try await sealedStore.rekey(to: newKey.map { $0.source(of: store) })
    if output.json {
      return Terminal.out(try json(Result(resealed: summary.resealed, left: summary.left)))
    }
    Terminal.out("\(counted(summary.resealed, "file")) sealed with the new key.")
    if summary.left > 0 {
      Terminal.error(
        "warning: \(counted(summary.left, "file")) cannot be opened, and the old key was kept for them. "
          + "\"llavero list\" names them, \"llavero clear --damaged\" removes them; then run this again.")
    }
  }
}
