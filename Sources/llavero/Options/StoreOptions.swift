import ArgumentParser
import EncryptedFileStore
import EtcdStore
import GLibSupport
import KeyringStore
import Sealing
import SecretService
import TokenCache

/// The kinds of store that the tool can use.
enum StoreKind: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The Secret Service keyring.
  case keyring
  /// Encrypted files.
  case file
  /// A cluster of etcd's, for several machines.
  case etcd

  /// Where its groups are, for a sentence.
  var place: String {
    switch self {
    case .keyring: "in the keyring"
    case .file: "in the file store"
    case .etcd: "in etcd"
    }
  }
}

/// Where the cache is.
struct StoreOptions: ParsableArguments {
  @Option(
    name: .customLong("store"), help: "Where the tokens are kept; in the keyring unless told otherwise.")
  var kind: StoreKind?

  @Option(help: "Where the key of the store in files or in etcd comes from: \(KeyChoice.forms).")
  var key: KeyChoice?

  @Option(help: "The addresses of etcd's members, with commas in between.")
  var endpoints: String?

  @Option(
    help:
      "What the names of the store's values in etcd begin with; \(Self.defaultPrefix) unless told otherwise.")
  var prefix: String?

  @Option(help: "Who the store is to etcd.")
  var etcdUser: String?

  @Option(help: "Where the password of etcd's user comes from: \(KeyChoice.forms).")
  var etcdPassword: KeyChoice?

  @Option(help: "The label or name of the keyring's collection; the default one unless another is named.")
  var collection: String?

  @Flag(help: "Let the keyring ask for its password when it is locked.")
  var unlock = false

  @Flag(
    name: .customLong("allow-plain-session"),
    help: "Let secrets go over the bus in clear where the keyring refuses to encrypt them.")
  var allowsPlainSession = false

  private static let defaultPrefix = "/llavero"

  /// The store that was chosen.
  ///
  /// - Throws: `Failure.Message` of code `usage` where it lacks something, such as a key, and where tokens are borrowed;
  ///   `CacheError` for invalid endpoints and prefixes.
  var store: any CacheStore {
    get throws {
      try requireStore()
      return switch chosenKind {
      case .keyring:
        KeyringCacheStore(
          collection: chosenCollection, prompt: prompt, allowsPlainSession: allowsPlainSession)
      case .file: EncryptedFileCacheStore(key: try requiredSource)
      case .etcd: try etcdStore
      }
    }
  }

  /// The kind of store that was chosen.
  var chosenKind: StoreKind { kind ?? Settings.current.store ?? .keyring }

  private var requiredSource: KeySource {
    get throws(Failure.Message) {
      if let key = chosenKey { return key.source(of: self) }
      throw Failure.Message(
        code: .usage, name: "key_required",
        message: "The \(chosenKind == .file ? "file store" : "store in etcd") was chosen, and no key for it.",
        advice: "Add --key, or set LLAVERO_KEY or \"key\" in the configuration, to \(KeyChoice.forms). "
          + "\"llavero setup --store \(chosenKind.rawValue)\" makes a key and says it in the configuration.")
    }
  }

  private var etcdStore: EtcdCacheStore {
    get throws {
      guard let endpoints = chosenEndpoints else {
        throw Failure.Message(
          code: .usage, name: "endpoints_required", message: "The store in etcd was chosen, and no endpoint.",
          advice:
            "Add --endpoints https://HOST:2379,…, or set LLAVERO_ENDPOINTS or \"endpoints\" in the configuration."
        )
      }
      return try EtcdCacheStore(
        endpoints: endpoints, prefix: chosenPrefix, key: requiredSource, user: chosenUser,
        transport: Network.transport(allowsLoopbackHTTP: true))
    }
  }

  /// The endpoints, if they were said.
  var chosenEndpoints: [String]? {
    (endpoints ?? Settings.current.endpoints)?.split { $0 == "," || $0 == " " }.map(String.init)
  }

  /// What the names of the store's values in etcd begin with.
  var chosenPrefix: String { prefix ?? Settings.current.prefix ?? Self.defaultPrefix }

  private var chosenUser: EtcdUser? {
    get throws(Failure.Message) {
      guard let name = etcdUser ?? Settings.current.etcdUser else { return nil }
      guard let password = chosenPassword else {
        throw Failure.Message(
          code: .usage, name: "password_required", message: "A user of etcd's was named, and no password.",
          advice:
            "Add --etcd-password, or set LLAVERO_ETCD_PASSWORD or \"etcd-password\" in the configuration, to "
            + "where it comes from: \(KeyChoice.forms).")
      }
      return EtcdUser(name: name, password: password.passwordSource(of: "etcd's user \(name)", self))
    }
  }

  /// Whether the store, its key or its password is in the keyring.
  var usesKeyring: Bool {
    switch chosenKind {
    case .keyring: true
    case .file: chosenKey == .keyring
    case .etcd: chosenKey == .keyring || chosenPassword == .keyring
    }
  }

  /// Whether both options are about one place. There is one file store.
  func isSamePlace(as other: StoreOptions) -> Bool {
    guard chosenKind == other.chosenKind else { return false }
    switch chosenKind {
    case .keyring: return chosenCollection == other.chosenCollection
    case .file: return true
    case .etcd:
      return chosenPrefix == other.chosenPrefix
        && !Set(chosenEndpoints ?? []).isDisjoint(with: other.chosenEndpoints ?? [])
    }
  }

  /// Whether a configuration is about the same store in etcd.
  func isConfigured(_ file: SettingsFile) -> Bool {
    file["endpoints"] == (endpoints ?? Settings.current.endpoints)
      && file["prefix"] ?? Self.defaultPrefix == chosenPrefix
  }

  /// Where the password of etcd's user comes from, if that was said.
  private var chosenPassword: KeyChoice? { etcdPassword ?? Settings.current.etcdPassword }

  /// Where the key of the store comes from, if that was said.
  var chosenKey: KeyChoice? { key ?? Settings.current.key }

  /// The name of the keyring's collection, if that was said.
  var chosenCollection: String? { collection ?? Settings.current.collection }

  /// The end of a command line that is to use the same store, as a shell takes it: what this one says of the store.
  /// What the environment and the configuration say holds for that one too, but for an open file.
  var repeated: String {
    var words = named.flatMap { ["--" + $0.name, $0.value] }
    if allowsPlainSession { words.append("--allow-plain-session") }
    let text = words.map { " " + shellQuoted($0) }.joined()
    guard chosenKind != .keyring, case .passphraseDescriptor(let number)? = chosenKey else { return text }
    return text + " \(number)< FILE"
  }

  /// What the command line says of the store, by the names that it has as a setting, too.
  var named: [(name: String, value: String)] {
    [
      ("store", kind?.rawValue), ("key", key?.argument), ("endpoints", endpoints), ("prefix", prefix),
      ("etcd-user", etcdUser), ("etcd-password", etcdPassword?.argument), ("collection", collection),
    ].compactMap { name, value in value.map { (name: name, value: $0) } }
  }

  /// Whether the keyring may ask: long enough to find a password, short enough not to hang a forgotten terminal for
  /// ever.
  var prompt: PromptPermission { unlock ? .allowed(waitingUpTo: .seconds(120)) : .denied }
}

/// Where the cache is, and which group in it is meant.
struct GroupOptions: ParsableArguments {
  @OptionGroup var store: StoreOptions

  @Option(
    name: .customLong("group"),
    help: "The keychain group; \(KeychainGroup.default.name) unless another is named.",
    transform: { try KeychainGroup($0) })
  var named: KeychainGroup?

  var group: KeychainGroup { named ?? Settings.current.group ?? .default }

  var cache: TokenCacheAccessor {
    get throws { TokenCacheAccessor(store: try store.store, group: group) }
  }
}

extension TokenCacheAccessor {
  /// Throws now what would make a write fail: that a store's key is out of reach, or the store cannot be made.
  func prepareStore() async throws(CacheError) {
    try await (store as? any SealedStore)?.open(makingStore: true)
  }
}

/// How the result is printed.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON for programs.")
  var json = false
}
