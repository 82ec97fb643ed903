import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import Sealing
import TokenCache

struct Setup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Choose store, key, client and tenant, try them, and write the configuration.",
    discussion: """
      Asks on a terminal for what no option names. Elsewhere it takes what the environment and the \
      configuration say and, for want of that, the keyring where one answers, else encrypted files with a key \
      file, which it makes. The store is tried: a group is written, read and removed. Then the settings go \
      into the configuration file; all else in that stays as it is, and a setting that changes is named with \
      what it was. It says what the choice protects against, and what not.

      A systemd credential is there for a service alone. Outside of one, --key credential:NAME makes a key, has \
      systemd-creds encrypt it for this machine, which takes root, and prints the lines for the service's unit, \
      with the settings. The configuration stays as it is, and the store is not tried.

      Examples:
        llavero setup
        llavero setup --client 11111111-2222-4333-8444-555555555555 --tenant contoso.com < /dev/null
        llavero setup --store file --key file:$HOME/.config/llavero/key --dry-run
        sudo llavero setup --store file --key credential:llavero

      JSON: path (of the configuration), dry_run, settings: [name, value, previous], key_file (that was made), \
      unit (the lines for it), protects, does_not_protect, warnings.
      """)

  struct Result: Encodable {
    struct Setting: Encodable {
      let name: String
      let value: String
      let previous: String?
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

  @OptionGroup var client: ClientOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Show what would be written, and write nothing. The store is not tried.")
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "Where the encrypted credential is; \(ServiceCredential.directory)/NAME unless told otherwise.",
      valueName: "path"))
  var credentialFile: String?

  mutating func run() async throws {
    Settings.passOverUnknown()
    try client.cache.store.requireStore()
    let environment = ProcessInfo.processInfo.environment
    var file = try SettingsFile(environment: environment)
    try await choose(defaultKey: ownKeyPath(beside: file.path))
    let credential = try newCredential()
    var result = Result(path: credential == nil ? file.path : nil, dryRun: dryRun)
    if let credential {
      if !credential.isMade {
        result.keyFile = credential.path
        if !dryRun { result.warnings = try await credential.make() }
      }
      result.unit = credential.unit(settings: chosen, hasFiles: store == .file)
    } else {
      result.keyFile = try makeKey()
      do {
        if !dryRun { try await tryStore() }
      } catch {
        if let path = result.keyFile { await removeKey(path) }
        throw error
      }
    }

    for (name, value) in chosen {
      let previous = credential == nil ? file[name] : nil
      if previous != value { file.set(name, to: value) }
      result.settings.append(
        Result.Setting(name: name, value: value, previous: previous == value ? nil : previous))
      if credential == nil, let overriding = environment[Settings.variable(of: name)], !overriding.isEmpty,
        overriding != value
      {
        result.warnings.append("\(Settings.variable(of: name)) in the environment goes before this \(name).")
      }
    }
    if client.client == nil {
      result.warnings.append("No client is named. Signing in needs one: llavero setup --client ID")
    }
    if !dryRun, credential == nil { try file.write() }
    let protection = Protection(store, key: client.cache.store.key)
    if let unknown = Settings.current.unknown { result.warnings.append(unknown.message) }
    (result.protects, result.doesNotProtect) = (protection.protects, protection.doesNotProtect)
    if output.json { return Terminal.out(try json(result)) }
    show(result)
  }

  private var store: StoreKind { client.cache.store.kind ?? .keyring }

  /// The settings that are written.
  private var chosen: [(name: String, value: String)] {
    let store = client.cache.store.named.map { setting in
      // A descriptor is open for this command alone.
      setting.value.hasPrefix("passphrase-fd:") ? (name: setting.name, value: "passphrase") : setting
    }
    let rest = [
      ("client", client.client), ("authority", client.authority), ("tenant", client.tenant),
      ("group", client.cache.named?.name),
    ]
    return store + rest.compactMap { name, value in value.map { (name: name, value: $0) } }
  }

  private func ownKeyPath(beside configuration: String) -> String {
    parentDirectory(of: configuration) + "/key"
  }

  /// Settles what no option names: by questions on a terminal.
  private mutating func choose(defaultKey: String) async throws {
    let current = Settings.current
    let asks = Terminal.isInput && !output.json
    if client.cache.store.kind == nil {
      let proposal = try await proposedStore(asked: asks)
      // A cluster takes more than these questions.
      let offered = StoreKind.allCases.filter { $0 != .etcd || $0 == proposal }
      client.cache.store.kind =
        asks
        ? try Terminal.ask(
          "Store (\(offered.map(\.rawValue).joined(separator: ", ")))", proposal.rawValue
        ) { answer in
          offered.first { $0.rawValue == answer }
        } : proposal
    }
    if store.takesKey, client.cache.store.key == nil {
      let proposal = current.key ?? .file(defaultKey)
      client.cache.store.key =
        asks
        ? try Terminal.ask("Key (\(KeyChoice.forms))", proposal.argument) { KeyChoice(argument: $0) }
        : proposal
    }
    if !store.takesKey, client.cache.store.key != nil {
      throw Failure.Message(
        code: .usage, name: "no_key", message: "The store \(store.rawValue) has no key of its own.",
        advice: "Leave out --key, or choose another --store.")
    }
    client.cache.store.collection = client.cache.store.chosenCollection
    client.cache.named = client.cache.named ?? current.group
    if store == .etcd {
      let options = client.cache.store
      client.cache.store.endpoints = options.endpoints ?? current.endpoints
      client.cache.store.prefix = options.prefix ?? current.prefix
      client.cache.store.etcdUser = options.etcdUser ?? current.etcdUser
      client.cache.store.etcdPassword = options.etcdPassword ?? current.etcdPassword
    }
    client.authority = client.authority ?? current.authority
    if client.client == nil {
      client.client =
        asks
        ? try Terminal.ask("Client id of the app, or nothing", current.clientID ?? "") { $0 }
        : current.clientID
    }
    if client.client == "" { client.client = nil }
    if client.tenant == nil {
      client.tenant =
        asks
        ? try Terminal.ask("Tenant, its id or a domain of it, or nothing", current.tenant ?? "") { $0 }
        : current.tenant
    }
    if client.tenant == "" { client.tenant = nil }
    // Says what is wrong with them.
    _ = try client.namedAuthority
  }

  /// What the settings say, else the keyring where one answers, else the first store that needs none. One that is locked
  /// is not passed over.
  private func proposedStore(asked: Bool) async throws -> StoreKind {
    if let named = Settings.current.store { return named }
    let keyring = try client.cache.store.store
    do throws(CacheError) {
      _ = try await keyring.groups()
      return .keyring
    } catch {
      guard error.code == .unavailable || asked else { throw error }
      return error.code == .unavailable ? .file : .keyring
    }
  }

  /// Makes the key file where it does not exist.
  ///
  /// - Returns: Its path, if it was made, or would be.
  private func makeKey() throws -> String? {
    guard store.takesKey, case .file(let path)? = client.cache.store.key else { return nil }
    try checkWhole(path)
    if FileManager.default.fileExists(atPath: path) { return nil }
    if dryRun { return path }
    var key = randomBytes(32)
    defer { wipe(&key) }
    try writeKeyFile(key.span, to: path)
    return path
  }

  /// The credential for a service; `nil` where the key is another, or this process is the service and has it.
  private func newCredential() throws(Failure.Message) -> ServiceCredential? {
    guard case .credential(let name)? = client.cache.store.key, !ServiceCredential.isGiven(name) else {
      guard credentialFile == nil else {
        throw Failure.Message(
          code: .usage, name: "no_credential", message: "No credential is made here.",
          advice:
            "Leave out --credential-file, or name one outside of its service with --key credential:NAME.")
      }
      return nil
    }
    if let credentialFile { try checkWhole(credentialFile) }
    return try ServiceCredential(name: name, path: credentialFile)
  }

  private func checkWhole(_ path: String) throws(Failure.Message) {
    guard path.hasPrefix("/") else {
      throw Failure.Message(
        code: .usage, name: "relative_path", message: "\(path) depends on the directory that one is in.",
        advice: "Give a key file's whole path.")
    }
  }

  /// Removes a key file that was just made, unless the store may be sealed with it.
  private func removeKey(_ path: String) async {
    let opensNothing: Bool
    do {
      let isThere = try await (client.cache.store.store as? any SealedStore)?.open(makingStore: false)
      // What etcd was asked to do may yet be done.
      opensNothing = isThere == false && store == .file
    } catch {
      // The store has another key.
      opensNothing = (error as? CacheError)?.code == .wrongKey
    }
    if opensNothing {
      try? FileManager.default.removeItem(atPath: path)
    } else if !output.json {
      Terminal.error(
        printable("warning: The key file \(path) was made, and stays: the store may be sealed with it."))
    }
  }

  private func tryStore() async throws {
    let cache = try client.cache.cache
    try await cache.prepareStore()
    if let fault = try await StoreProbe(cache.store).run() {
      throw Failure.Message(
        name: "store_failed", message: fault,
        advice: "\"llavero doctor\" says more. The configuration is as it was.")
    }
  }

  private func show(_ result: Result) {
    if let path = result.path {
      Terminal.out((dryRun ? "Would be written to " : "Written to ") + printable(path) + ":")
      for setting in result.settings {
        let previous = setting.previous.map { " (was \($0))" } ?? ""
        Terminal.out("  " + printable("\(setting.name) = \(setting.value)\(previous)"))
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
    Terminal.out("What it does not:")
    for line in result.doesNotProtect { Terminal.out("  " + printable(line)) }
    for line in result.warnings { Terminal.error("warning: " + printable(line)) }
  }
}
