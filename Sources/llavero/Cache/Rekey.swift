import ArgumentParser
import GLibSupport
import Sealing

struct Rekey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Give the store in files or in etcd a new key.",
    discussion: """
      Every account of every group is sealed again with a new random key, and that is put under the passphrase or \
      key named by --new-key; without it, under the one of --key, and a passphrase is asked for anew. It may be \
      interrupted: from then on the new key opens the store, and the command finishes the work when it is run \
      again with that as --key. A configuration that names the old key is changed to name the new one.

      Examples:
        llavero rekey --store file --key passphrase
        llavero rekey --store file --key passphrase --new-key keyring

      JSON: resealed (how many files have the new key), left (how many cannot be opened; their key is kept), \
      configuration (the file that names the new key now).
      """)

  private struct Result: Encodable {
    let resealed: Int
    let left: Int
    let configuration: String?
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
    let configuration = try newKey.flatMap { (key) throws(Failure.Message) in try configure(key) }
    if output.json {
      let result = Result(
        resealed: summary.resealed, left: summary.left, configuration: configuration)
      return Terminal.out(try json(result))
    }
    Terminal.out("\(counted(summary.resealed, "file")) sealed with the new key.")
    if let newKey {
      let key = shellQuoted(newKey.setting)
      Terminal.out(
        printable(
          configuration.map { "The configuration \($0) names the new key now." }
            ?? "Name the new key from now on: --key \(key), LLAVERO_KEY or \"key\" in the configuration."))
      let variable = Settings.variable(of: "key")
      if let present = processEnvironment()[variable], !present.isEmpty, present != newKey.setting {
        Terminal.error(
          "warning: \(variable) in the environment names another key, and goes before the configuration.")
      }
    }
    let damaged = summary.left - summary.kept
    if damaged > 0 {
      Terminal.error(
        "warning: \(counted(damaged, "file")) cannot be opened, and the old key was kept for them. "
          + "\"llavero list\" names them, \"llavero clear --damaged\" removes them; then run this again.")
    }
    if summary.kept > 0 {
      Terminal.error(
        "warning: \(counted(summary.kept, "file")) cannot be opened with the store's keys, or by this version. "
          + "Restore the whole store from one backup, or remove the groups that \"llavero list\" shows them in with "
          + "\"llavero clear --all\"; then run this again.")
    }
  }

  /// Has the configuration name the new key, where it names the old one of this store.
  ///
  /// - Returns: Its path; `nil` where it does not.
  private func configure(_ key: KeyChoice) throws(Failure.Message) -> String? {
    guard var file = try? SettingsFile(environment: processEnvironment()),
      file["store"] == store.chosenKind.rawValue, let old = file["key"], old == store.chosenKey?.setting,
      store.chosenKind == .file || store.isConfigured(file)
    else { return nil }
    file.set("key", to: key.setting)
    do throws(Failure.Message) {
      try file.write()
    } catch {
      throw Failure.Message(
        name: error.name,
        message: "The store has its new key, and the configuration still names the old one: \(error.message)",
        advice: "Change it to: key = \(key.setting)")
    }
    return file.path
  }
}
