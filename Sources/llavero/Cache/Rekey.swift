import ArgumentParser
import GLibSupport
import Sealing

struct Rekey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Change the encryption key of a file or etcd store.",
    discussion: """
      Encrypts every account of every group again with a new random key, which is sealed with the passphrase or key \
      that --new-key names (default: the one of --key, a passphrase is asked for anew). A new key file is made where \
      there is none. If it is interrupted, the new key opens the store: run it again with that as --key to finish. A \
      configuration that names the old key is changed to name the new one. Without --new-key, the key file that opened \
      the store still opens it: after a leak of that file, name a new one.

      Examples:
        llavero rekey --store file --key passphrase
        llavero rekey --store file --key passphrase --new-key keyring
        llavero rekey --store file --key file:/etc/old.key --new-key file:/etc/new.key

      JSON: resealed (number of files with the new key), left (number of files that cannot be opened; their key is \
      kept), key and old_key (sources of the key that opens the store now and, if another, before), key_file (if it \
      was made), configuration (the file that now names the new key), warnings.
      """)

  @Option(
    help: ArgumentHelp("Source of the new key, in the forms of --key.", valueName: "source"),
    completion: .values(of: KeyChoice.forms), transform: KeyChoice.init(_:))
  var newKey: KeyChoice?

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  func run() async throws {
    guard let sealedStore = try store.store as? any SealedStore else {
      throw Failure(
        "no_file_store", "The keyring has no key to change: only file and etcd stores have one.",
        code: .usage, advice: "Name one with --store and --key.")
    }
    let madeFile = try await makeKey(of: sealedStore)
    if let madeFile, !output.json {
      Terminal.out(printable("Made the key file \(madeFile). Keep a copy of it in a safe place."))
    }
    // Errors from here on are of the new key.
    if newKey != nil { try await sealedStore.open(makingStore: false) }
    let summary: RekeySummary
    do {
      summary = try await sealedStore.rekey(
        to: newKey.map { store.settings.source(of: $0, store.access) })
    } catch {
      throw newKey == nil ? error : error.asFailure.naming("new")
    }
    let configuration = try newKey.flatMap(configure)
    let warnings = warnings(summary)
    if output.json {
      return try Terminal.out([
        "resealed": summary.resealed, "left": summary.left, "key": (newKey ?? oldKey)?.persistent.argument,
        "old_key": isKeyKept ? nil : oldKey?.persistent.argument, "key_file": madeFile,
        "configuration": configuration,
        "warnings": warnings.isEmpty ? nil : warnings,
      ])
    }
    Terminal.out("\(counted(summary.resealed, "file")) sealed with the new key.")
    if let newKey {
      let key = newKey.persistent.argument
      Terminal.out(
        printable(
          configuration.map { "The configuration \($0) now names the new key." }
            ?? "Name the new key from now on: --key \(shellQuoted(key)), LLAVERO_KEY or \"key\" in the configuration."
        ))
    }
    if let remark { Terminal.out(printable(remark)) }
    for warning in warnings { Terminal.warn(warning) }
  }

  private var oldKey: KeyChoice? { store.settings.key }

  /// Whether the source of the key stays.
  private var isKeyKept: Bool { newKey.map { $0.persistent == oldKey?.persistent } ?? true }

  /// What the old key still opens.
  private var remark: String? {
    guard let oldKey else { return nil }
    let name = oldKey.persistent.argument
    guard isKeyKept else {
      return
        "The old key, \(name), opens this store no longer, but still older copies of it, such as backups."
    }
    switch oldKey {
    case .file(let path):
      let command = store.command(["rekey", "--new-key", "file:" + absolutePath(path) + ".new"])
      return "\(name) still opens the store. If others may have it, change the key, too: \(command)"
    case .credential:
      return "\(name) still opens the store. If others may have it, name a new key with --new-key."
    // The keyring made another key, and the passphrase was asked for anew.
    case .passphrase, .passphraseDescriptor, .keyring, .portal: return nil
    }
  }

  /// Makes the file of the new key where it does not exist, if the old key opens the store. Returns its path, if it was made.
  private func makeKey(of sealedStore: any SealedStore) async throws -> String? {
    guard case .file(let path)? = newKey?.persistent, FileStatus(path) == nil,
      try await sealedStore.open(makingStore: false)
    else { return nil }
    return try makeKeyFile(path) ? path : nil
  }

  private func warnings(_ summary: RekeySummary) -> [String] {
    var warnings: [String] = []
    if let newKey, let present = Setting.key.variableText(in: processEnvironment()),
      present != newKey.persistent.argument
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
    let files = processEnvironment().filter {
      ["HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"].contains($0.key)
    }
    guard let written = try? Settings(environment: files).store, written.key != nil,
      written.key?.persistent == store.settings.key?.persistent, written.isSameStore(as: store.settings),
      var file = try? SettingsFile(environment: files)
    else { return nil }
    file.set("key", to: key.persistent.argument)
    do throws(Failure) {
      try file.write()
    } catch {
      throw Failure(
        error.name,
        "The store has its new key, and the configuration still names the old one: \(error.message)",
        advice: "Change it to: key = \(key.persistent.argument)")
    }
    return file.path
  }
}
