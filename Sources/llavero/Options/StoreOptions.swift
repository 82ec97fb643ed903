import ArgumentParser
import GLibSupport
import HTTPSupport
import KeyringStore
import Lending
import Sealing
import SecretService
import TokenCache

struct StoreOptions: ParsableArguments {
  @Option(
    name: .customLong("store"), help: ArgumentHelp(.store, "address"),
    completion: .values(of: StoreAddress.forms), transform: StoreAddress.init(_:))
  var address: StoreAddress?

  @Option(
    help: ArgumentHelp(.key, "source"), completion: .values(of: KeyChoice.forms),
    transform: KeyChoice.init(_:))
  var key: KeyChoice?

  @Option(help: ArgumentHelp(.etcdUser, "name"), transform: Setting.etcdUser.checked)
  var etcdUser: String?

  @Option(
    help: ArgumentHelp(.etcdPassword, "source"), completion: .values(of: KeyChoice.passwordForms),
    transform: KeyChoice.init(password:))
  var etcdPassword: KeyChoice?

  @Option(
    name: .customLong("etcd-ca"), help: ArgumentHelp(.etcdCA, "file"), completion: .file(),
    transform: Setting.etcdCA.checked)
  var etcdCA: String?

  @Option(help: ArgumentHelp(.collection, "name"), transform: Setting.collection.checked)
  var collection: String?

  @Flag(help: "Allow the keyring to prompt, such as for its password.")
  var unlock = false

  @Flag(
    name: .customLong("allow-plain-session"),
    help: "Send secrets over the session bus unencrypted if need be.")
  var allowsPlainSession = false

  /// The prefix of the options for this store, if it is not the command's own: "from" or "to".
  var side: String?

  /// Whether tokens are borrowed, if the command line sets that. Not all commands with a store have the option.
  var origin: TokenOrigin?

  /// The settings of the command line.
  var named: StoreSettings {
    var settings = StoreSettings()
    settings.address = address
    settings.key = key
    settings.etcdUser = etcdUser
    settings.etcdPassword = etcdPassword
    settings.etcdCA = etcdCA
    settings.collection = collection
    return settings
  }

  /// The settings of the command line, the environment and the configuration.
  var settings: StoreSettings { named.withDefaults(from: Settings.current.store) }

  /// - Throws: `ConfigurationError` for missing settings, such as a key, and if tokens are borrowed.
  var store: any CacheStore {
    get throws {
      try requireStore()
      return try settings.store(access)
    }
  }

  var access: StoreAccess {
    var access = StoreAccess(
      prompt: prompt, allowsPlainSession: allowsPlainSession, ask: Terminal.ask
    ) { (certificates) throws(HTTPTransportError) in
      Network.logged(try Network.transport(toEtcdTrusting: certificates))
    }
    if !allowsPlainSession { access.connection = EarlyConnection.shared }
    return access
  }

  /// Runs work on this store. The advice of its errors names the options of this store.
  func run<T>(_ work: () async throws -> T) async throws -> T {
    do {
      return try await work()
    } catch let error as any ToolError {
      guard let side else { throw error }
      throw error.asFailure.naming(side)
    }
  }

  /// Returns a command on the same store, quoted for a shell, with the store options of this command line. The
  /// environment and the configuration apply to that command, too, except for a lender and an open file.
  func command(_ words: [String]) -> String {
    var given = Settings()
    given.store = named
    var words = ["llavero"] + words + given.values.flatMap { ["--" + $0.setting.name, $0.text] }
    if allowsPlainSession { words.append("--allow-plain-session") }
    let isHere = origin == .store && Settings.current.origin?.socket != nil
    let text =
      (isHere ? Setting.origin.variable + "=off " : "") + words.map(shellQuoted).joined(separator: " ")
    let settings = settings
    guard settings.kind.takesKey, case .passphraseDescriptor(let number)? = settings.key else { return text }
    return text + " \(number)< FILE"
  }

  /// Whether the keyring may ask.
  var prompt: PromptPermission { unlock ? .allowed() : .denied }
}

extension ArgumentHelp {
  /// The help of an option of the table of settings.
  init(_ setting: Setting, _ valueName: String) {
    self.init(setting.help, valueName: valueName)
  }
}

extension Terminal {
  /// Reports what `--unlock` waits for, before it does. With `--json`, standard error is for the error.
  static func announcePrompts() {
    SecretServiceConnection.observePrompts { reason in
      if Failure.wantsJSON { return }
      let subject =
        switch reason {
        case .collection(let label): "the password of \(printable(label))"
        case .items: "permission to read the items"
        case .newCollection: "the password of a new collection, Default keyring"
        }
      note("The keyring asks for \(subject), in a window of its own. Ctrl-C ends the wait.")
    }
  }

  /// - Throws: `CacheError` if there is no terminal, or two new passphrases differ.
  static func ask(_ question: SecretQuestion) throws(CacheError) -> SecretBytes {
    switch question {
    case .passphrase: return try ask("Passphrase of the store: ")
    case .password(let user):
      return try ask(
        "Password of etcd's user \(user): ", for: "etcd's user \(user)", option: "--etcd-password",
        forms: KeyChoice.passwordForms)
    case .newPassphrase:
      let passphrase = try ask("New passphrase for the store: ")
      let again = try ask("The same again: ")
      let isSame = unsafe passphrase.withUnsafeBytes { one in
        unsafe again.withUnsafeBytes { other in unsafe one.elementsEqual(other) }
      }
      guard isSame else {
        throw CacheError(.wrongKey, "The two passphrases differ.", advice: "Nothing was changed. Try again.")
      }
      return passphrase
    }
  }

  private static func ask(
    _ question: String, for name: String = "the store", option: String = "--key",
    forms: String = KeyChoice.forms
  ) throws(CacheError) -> SecretBytes {
    if let answer = try askSecretly(question) { return answer }
    throw CacheError(
      .locked, "There is no terminal to ask for the passphrase of \(name).",
      advice:
        "Give it in a file descriptor: \(option) passphrase-fd:3 3< FILE. Or use another source: \(forms).")
  }
}

/// A command on a group. It names the two groups of options itself: a debug build of the parser reads a group in a group four
/// times as often.
protocol GroupCommand {
  var groupOption: GroupOption { get }
  var storeOptions: StoreOptions { get }
  var store: StoreOptions { get }
}

extension GroupCommand {
  var store: StoreOptions { storeOptions }
  var group: KeychainGroup { groupOption.named ?? Settings.current.group ?? .default }

  var cache: TokenCacheAccessor {
    get throws { TokenCacheAccessor(store: try store.store, group: group) }
  }

  /// Advice for a command that found no tokens, if the group's tokens are elsewhere.
  func collectionHint() async -> String? {
    guard store.socket == nil, let keyring = (try? store.store) as? KeyringCacheStore else { return nil }
    return await keyring.collectionHint(group)
  }
}

struct GroupOption: ParsableArguments {
  @Option(
    name: .customLong("group"), help: ArgumentHelp(.group, "group"), completion: .groups,
    transform: { try KeychainGroup($0) })
  var named: KeychainGroup?
}

extension KeyringCacheStore {
  /// The collection in which a group was last written, where that is another one.
  func collectionHint(_ group: KeychainGroup) async -> String? {
    guard let name = try? await otherCollection(of: group) else { return nil }
    return "\(group.name) was last written in the collection \(name). Add "
      + "--collection \(shellQuoted(name)) to use it."
  }
}

extension CacheStore {
  /// The problems of a group that no read finds.
  func hiddenProblems(of group: KeychainGroup) async throws(CacheError) -> [StoreProblem] {
    try await (self as? KeyringCacheStore)?.returnedItems()[group] ?? []
  }

  /// Warns if a removal is not on the disk yet.
  func noteLateWrite() async {
    guard (try? await (self as? KeyringCacheStore)?.writesLater()) == true else { return }
    Terminal.note(
      "This is not on the disk yet: KWallet writes after five seconds without a change. If it is killed before, what was "
        + "removed is back.")
  }
}

struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON for programs.")
  var json = false

  @OptionGroup var verbosity: VerbosityOptions
}

/// How much a command prints on standard error. ``Terminal`` reads the flags, so that code without a command at hand
/// knows them.
struct VerbosityOptions: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Hide notes, hints and progress.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Log requests to standard error.")
  var verbose = false
}

extension StoreOptions {
  /// The socket at which tokens are borrowed; `nil` where they are stored.
  var socket: String? { (origin ?? Settings.current.origin)?.socket }

  /// The lender; `nil` where tokens are stored. An error of code `usage` where the command line names a store besides.
  var lender: LoanBroker? {
    get throws {
      guard let path = socket else { return nil }
      guard named == StoreSettings() else {
        throw Failure(
          "borrowed", "Tokens are borrowed from unix:\(path), and the command line names a store.",
          code: .usage, advice: "Leave out the store and its key, or set LLAVERO_FROM to off.")
      }
      return LoanBroker(transport: Network.logged(try Network.transport(toLenderAt: path)))
    }
  }

  /// Throws where tokens are borrowed: there is no store then. And where root would make one in another user's home.
  func requireStore() throws(Failure) {
    guard let path = socket else {
      switch settings.address ?? .keyring {
      // Its locks are the user's.
      case .keyring: try requireOwnHome()
      case .file(let directory):
        try requireOwnHome(for: directory ?? processEnvironment()["XDG_DATA_HOME"].map { $0 + "/" })
      case .etcd: break
      }
      return
    }
    throw Failure(
      "borrowed", "Tokens are borrowed from unix:\(path), so this command has no store to work on.",
      code: .usage,
      advice: "Run it where the lender runs, or set LLAVERO_FROM to off for the store of this machine.")
  }
}

/// An argument of the form `name=value`.
struct NamedValue: ExpressibleByArgument, Sendable {
  let name: String
  let value: String
}

extension NamedValue {
  init?(argument: String) {
    guard let mark = argument.firstIndex(of: "="), mark != argument.startIndex else { return nil }
    self.init(name: String(argument[..<mark]), value: String(argument[argument.index(after: mark)...]))
  }
}
