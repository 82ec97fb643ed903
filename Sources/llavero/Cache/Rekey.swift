import ArgumentParser
import GLibSupport
import Sealing

struct Rekey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Change the encryption key of a file or etcd store.",
    discussion: """
      Encrypts every account of every group again with a new random key, which is sealed with the passphrase or key \
      that --new-key names (default: the one of --key, a passphrase is asked for anew). If it is interrupted, the new \
      key opens the store: run it again with that as --key to finish. A configuration that names the old key is \
      changed to name the new one.

      Examples:
        llavero rekey --store file --key passphrase
        llavero rekey --store file --key passphrase --new-key keyring

      JSON: resealed (number of files with the new key), left (number of files that cannot be opened; their key is \
      kept), configuration (the file that now names the new key), warnings.
      """)

  @Option(
    help: ArgumentHelp("Source of the new key, in the forms of --key.", valueName: "source"),
    transform: KeyChoice.init(_:))
  var newKey: KeyChoice?

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  func run() async throws {
    guard let sealedStore = try store.store as? any SealedStore else {
      throw Failure(
        "no_file_store", "The keyring has no key to change: only file and etcd stores have one.",
        code: .usage, advice: "Name one with --store and --key.")
    }
    let summary = try await sealedStore.rekey(
      to: newKey.map { store.settings.source(of: $0, store.access) })
    let configuration = try newKey.flatMap { (key) throws(Failure) in try configure(key) }
    let warnings = warnings(summary)
    if output.json {
      return try Terminal.out([
        "resealed": summary.resealed, "left": summary.left, "configuration": configuration,
        "warnings": warnings.isEmpty ? nil : warnings,
      ])
    }
    Terminal.out("\(counted(summary.resealed, "file")) sealed with the new key.")
    if let newKey {
      let key = newKey.lasting.argument
      Terminal.out(
        printable(
          configuration.map { "The configuration \($0) now names the new key." }
            ?? "Name the new key from now on: --key \(shellQuoted(key)), LLAVERO_KEY or \"key\" in the configuration."
        ))
    }
    for warning in warnings { Terminal.warn(warning) }
  }

  private func warnings(_ summary: RekeySummary) -> [String] {
    var warnings: [String] = []
    if let newKey, let present = Setting.key.variableText(in: processEnvironment()),
      present != newKey.lasting.argument
    {
      warnings.append(
        "\(Setting.key.variable) in the environment names another key, and goes before the configuration.")
    }
    // The advice is for this store with its new key, and for all of its groups.
    var store = store
    store.key = newKey ?? store.key
    let list = store.command(["list", "--groups"])
    let damaged = summary.left - summary.kept
    if damaged > 0 {
      warnings.append(
        "\(counted(damaged, "file")) cannot be opened, and the old key was kept for them. "
          + "\"\(list)\" shows their groups, \"\(store.command(["doctor", "--fix"]))\" removes them; "
          + "then run this again.")
    }
    if summary.kept > 0 {
      warnings.append(
        "\(counted(summary.kept, "file")) cannot be opened with the store's keys, or by this version. "
          + "Restore the whole store from one backup, or remove the groups that \"\(list)\" shows them in with "
          + "\"\(store.command(["clear", "--all", "--group", "GROUP"]))\"; then run this again.")
    }
    return warnings
  }

  /// Writes the new key into the configuration, where that names the old one of this store, and returns its path.
  private func configure(_ key: KeyChoice) throws(Failure) -> String? {
    let files = processEnvironment().filter { ["HOME", "XDG_CONFIG_HOME"].contains($0.key) }
    guard let written = try? Settings(environment: files).store, written.key != nil,
      written.key?.lasting == store.settings.key?.lasting, written.isSameStore(as: store.settings),
      var file = try? SettingsFile(environment: files)
    else { return nil }
    file.set("key", to: key.lasting.argument)
    do throws(Failure) {
      try file.write()
    } catch {
      throw Failure(
        error.name,
        "The store has its new key, and the configuration still names the old one: \(error.message)",
        advice: "Change it to: key = \(key.lasting.argument)")
    }
    return file.path
  }
}
