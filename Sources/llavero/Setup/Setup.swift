import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import Sealing
import TokenCache

struct Setup: AsyncParsableCommand, ClientCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Choose store, key, client and tenant, try them, and write the configuration.",
    discussion: """
      Asks on a terminal for what no option names. Elsewhere it takes what the environment and the configuration \
      name, else the keyring. If that does not work, it says why and fails: --store file chooses encrypted files, \
      with a new key file. The store is tested: a group is written, read and removed. Then the settings are \
      written into the configuration file. Everything else in it stays as it is, and a setting that changes is \
      shown with its old value. It prints what the choice protects against, and what not.

      A systemd credential is for a service alone. Outside of one, --key credential:NAME makes a key, has \
      systemd-creds encrypt it for this machine (as root), and prints the lines for the service's unit, with the \
      settings. The configuration stays as it is, and the store is not tested.

      Examples:
        llavero setup
        llavero setup --client YOUR-APP-ID --tenant contoso.com < /dev/null
        llavero setup --store file
        llavero setup --store file --key file:$HOME/.config/llavero/key --dry-run
        llavero setup --store etcd+https://etcd.example.com:2379/llavero
        sudo llavero setup --store file --key credential:llavero

      JSON: path (of the configuration), dry_run, settings: [name, value (none if it is removed), previous (if it \
      was a valid one), from (the variable or file that had the value), written (false for what a file for all \
      users sets)], key_file (that was made), unit (its lines), protects, does_not_protect, warnings.
      """)

  struct Result: Encodable {
    struct Setting: Encodable {
      let name: String
      /// `nil` for one that is removed.
      let value: String?
      let previous: String?
      /// The variable or the file that had the value.
      var from: String?
      /// `false` for one that a file for all users sets: it stays there, where it can be changed for all.
      var written = true
    }
    let path: String?
    let dryRun: Bool
    var settings: [Setting] = []
    var keyFile: String?
    var unit: [String]?
    var protects: [String] = []
    var doesNotProtect: [String] = []
    var warnings: [String] = []
  }

  @Flag(help: "Show what would be written, and write nothing. The store is not tested.")
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "The encrypted credential (default: \(ServiceCredential.directory)/NAME).", valueName: "path"))
  var credentialFile: String?

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  mutating func run() async throws {
    Settings.ignoreUnknown()
    try store.requireStore()
    let environment = ProcessInfo.processInfo.environment
    var file = try SettingsFile(environment: environment)
    // Beside the file that the settings name, also where that is a link: the key is not for another program's directory.
    let directory = parentDirectory(of: Settings.path(environment: environment) ?? file.path)
    try await choose(defaultKey: directory + "/key")
    var read = Settings()
    for (setting, value) in chosen { try read.read(setting, value, from: setting.name) }
    let credential = try newCredential()
    var result = Result(path: credential == nil ? file.path : nil, dryRun: dryRun)
    if let credential {
      if !credential.isMade {
        result.keyFile = credential.path
        if !dryRun { result.warnings = try await credential.make() }
        if store.settings.kind == .etcd { result.warnings.append(credential.copying) }
      }
      result.unit = credential.unit(
        settings: chosen, hasFiles: store.settings.address == .file(directory: nil))
    } else {
      // Before the key is made: this opens nothing, and throws where a setting is missing or invalid.
      if !dryRun { _ = try store.store }
      result.keyFile = try makeKey()
      do {
        if !dryRun { try await tryStore() }
      } catch {
        if let path = result.keyFile { await removeKey(path) }
        throw error
      }
    }

    for (setting, value) in chosen {
      let name = setting.name
      let origin = setting.text(Settings.current) == value ? Settings.current.origin(of: setting) : nil
      // A tenant is one of the authority beside it.
      let stays =
        credential == nil && origin?.isForAllUsers == true
        && (name != Setting.tenant.name || appOptions.authority == Settings.current.authority)
      let previous = credential == nil ? file[name] : nil
      if !stays, previous != value { file.set(name, to: value) }
      // What is no value of the setting may be a secret, put there by mistake.
      var (old, shown) = (Settings(), previous == value ? nil : previous)
      if let text = shown, (try? old.read(setting, text, from: name)) == nil { shown = nil }
      result.settings.append(
        Result.Setting(name: name, value: value, previous: shown, from: origin?.name, written: !stays))
      if credential == nil, let overriding = setting.variableText(in: environment), overriding != value {
        result.warnings.append("\(setting.variable) in the environment goes before this \(name).")
      }
    }
    // The configured tenant was not one of an authority that the command line names.
    if credential == nil, appOptions.tenant == nil, let previous = file[Setting.tenant.name] {
      file.set(Setting.tenant.name, to: "")
      result.settings.append(Result.Setting(name: Setting.tenant.name, value: nil, previous: previous))
    }
    if appOptions.client == nil {
      result.warnings.append("No client ID set. Signing in needs one: llavero setup --client YOUR-APP-ID")
    }
    if !dryRun, credential == nil { try write(file, afterMaking: result.keyFile) }
    if let unknown = Settings.current.unknown { result.warnings.append(unknown.message) }
    (result.protects, result.doesNotProtect) = store.settings.protection
    if output.json { return Terminal.out(try json(result)) }
    show(result)
  }

  /// Writes the configuration. An error names the key that was made, which opens the store.
  private func write(_ file: SettingsFile, afterMaking keyFile: String?) throws(Failure) {
    do throws(Failure) {
      try file.write()
    } catch {
      guard let keyFile else { throw error }
      let key = "file:" + keyFile
      let advice =
        "The store is sealed with \(keyFile), which was made: set \"key = \(key)\", or add "
        + "--key \(shellQuoted(key))."
      throw Failure(
        error.name, error.message, code: error.code, advice: sentences(advice, error.advice))
    }
  }

  /// The settings that are written.
  private var chosen: [(setting: Setting, text: String)] {
    var settings = Settings()
    settings.store = store.settings.persistent
    (settings.clientID, settings.authority) = (appOptions.client, appOptions.authority)
    (settings.tenant, settings.group) = (appOptions.tenant, groupOption.named)
    return settings.values
  }

  /// Chooses what no option names: by questions on a terminal.
  private mutating func choose(defaultKey: String) async throws {
    let current = Settings.current
    let asks = Terminal.isInput && !output.json
    /// Takes what is named, or the answer to a question, or without a terminal what the settings say.
    func text(
      _ setting: Setting, _ named: String?, _ question: String, _ configured: String?
    ) throws -> String? {
      if let named { return named }
      guard asks else { return configured }
      let text = try Terminal.ask(question, configured ?? "") { $0.isEmpty ? $0 : try? setting.checked($0) }
      return text.isEmpty ? nil : text
    }
    if storeOptions.address == nil {
      let proposal = try await proposedStore(asked: asks)
      storeOptions.address =
        asks
        ? try Terminal.ask("Store (\(StoreAddress.forms))", proposal.description) { try? StoreAddress($0) }
        : proposal
    }
    if store.settings.kind.takesKey, storeOptions.key == nil {
      let proposal = current.store.key ?? .file(defaultKey)
      storeOptions.key =
        asks
        ? try Terminal.ask("Key (\(KeyChoice.forms))", proposal.argument) { try? KeyChoice($0) }
        : proposal
    }
    if !store.settings.kind.takesKey, storeOptions.key != nil {
      throw Failure(
        "no_key", "The keyring store has no key of its own.", code: .usage,
        advice: "Leave out --key, or choose another --store.")
    }
    groupOption.named = groupOption.named ?? current.group
    appOptions.client = try text(
      .client, appOptions.client, "Client ID of the app (optional)", current.clientID)
    appOptions.tenant = try text(
      .tenant, appOptions.tenant, "Tenant ID or domain (optional)",
      appOptions.authority == nil ? current.tenant : nil)
    appOptions.authority = appOptions.authority ?? current.authority
    // Throws for an invalid one.
    _ = try namedAuthority
  }

  /// What the settings name, else the keyring. Why it does not work is printed before the question, and is an error where
  /// nothing is asked: another store would be a surprise.
  private func proposedStore(asked: Bool) async throws -> StoreAddress {
    if let named = Settings.current.store.address { return named }
    let keyring = try store.store
    do throws(CacheError) {
      _ = try await keyring.groups()
      return .keyring
    } catch {
      let failure = error.asFailure
      guard asked, failure.code != .cancelled else {
        let isNamed = failure.advice?.contains(Failure.setupAdvice) == true
        let advice = isNamed ? nil : "Or choose encrypted files: llavero setup --store file"
        throw Failure(
          failure.name, failure.message, code: failure.code, advice: sentences(failure.advice, advice))
      }
      Terminal.warn(sentences("The keyring cannot be used. " + failure.message, failure.advice))
      return error.code == .unavailable ? .file(directory: nil) : .keyring
    }
  }

  /// Makes the key file where it does not exist, and returns its path, if it was made, or would be.
  private func makeKey() throws -> String? {
    guard store.settings.kind.takesKey, case .file(let path)? = storeOptions.key else { return nil }
    try checkWhole(path)
    if dryRun { return FileStatus(path) == nil ? path : nil }
    return try makeKeyFile(path) ? path : nil
  }

  /// The credential for a service; `nil` where the key is another, or this process is the service and has it.
  private func newCredential() throws(Failure) -> ServiceCredential? {
    guard case .credential(let name)? = storeOptions.key, !ServiceCredential.isGiven(name) else {
      guard credentialFile == nil else {
        throw Failure(
          "no_credential", "--credential-file is for a new credential, and none is made.", code: .usage,
          advice: "Leave it out, or add --key credential:NAME outside of its service.")
      }
      return nil
    }
    if let credentialFile { try checkWhole(credentialFile) }
    return try ServiceCredential(name: name, path: credentialFile)
  }

  private func checkWhole(_ path: String) throws(Failure) {
    guard path.hasPrefix("/") else {
      throw Failure("relative_path", "The path of a key file must be absolute: \(path).", code: .usage)
    }
  }

  /// Removes a key file that was just made, unless the store may be sealed with it.
  private func removeKey(_ path: String) async {
    let opensNothing: Bool
    do {
      let isThere = try await (store.store as? any SealedStore)?.open(makingStore: false)
      // What etcd was asked to do may yet be done.
      opensNothing = isThere == false && store.settings.kind == .file
    } catch {
      // The store has another key.
      opensNothing = (error as? CacheError)?.code == .wrongKey
    }
    if opensNothing {
      try? FileManager.default.removeItem(atPath: path)
    } else if !output.json {
      Terminal.warn("The key file \(path) was made and stays: the store may be sealed with it.")
    }
  }

  private func tryStore() async throws {
    // So that the probe is removed.
    Interruption.beginCancelling()
    let cache = try cache
    try await cache.prepareStore()
    if let fault = try await cache.store.probe() {
      throw Failure(
        "store_failed", fault, advice: "Run \"llavero doctor\". The configuration was not changed.")
    }
  }

  private func show(_ result: Result) {
    if let path = result.path {
      Terminal.out((dryRun ? "Would be written to " : "Written to ") + printable(path) + ":")
      for setting in result.settings {
        let notes = [
          setting.previous.map { "was \($0)" },
          setting.from.map { "from \($0)" + (setting.written ? "" : ", where it stays") },
        ].compactMap(\.self)
        let value = setting.value.map { "= \($0)" } ?? "removed"
        let note = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
        Terminal.out("  " + printable("\(setting.name) \(value)\(note)"))
      }
    }
    if let path = result.keyFile {
      Terminal.out(
        printable(dryRun ? "The key file \(path) would be made." : "The key file \(path) was made."))
    }
    if let unit = result.unit {
      Terminal.out("Lines for the unit of the service, such as with \"systemctl edit NAME.service\":")
      for line in unit { Terminal.out("  " + printable(line)) }
    } else if !dryRun {
      Terminal.out("The store works: a group was written, read and removed.")
    }
    Terminal.out("What this protects against:")
    for line in result.protects { Terminal.out("  " + printable(line)) }
    Terminal.out("What it does not protect against:")
    for line in result.doesNotProtect { Terminal.out("  " + printable(line)) }
    for line in result.warnings { Terminal.warn(line) }
  }
}
