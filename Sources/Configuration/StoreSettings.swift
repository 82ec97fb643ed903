import EncryptedFileStore
import EtcdStore
import GLibSupport
import Glibc
public import HTTPSupport
import KeyringStore
public import Sealing
public import SecretService
public import TokenCache

/// What one place says of a store: a command line, or the environment with the configuration.
public struct StoreSettings: Sendable, Hashable {
  /// Where the store is; the keyring where no place says so.
  public var address: StoreAddress?
  /// Where the key of the store in files or in etcd comes from.
  public var key: KeyChoice?
  /// The user name for etcd.
  public var etcdUser: String?
  /// Where the password of etcd's user comes from.
  public var etcdPassword: KeyChoice?
  /// A file of certificates to trust for etcd alone.
  public var etcdCA: String?
  /// The label or name of the keyring's collection.
  public var collection: String?

  /// Says nothing of a store, which is then the keyring.
  public init() {}

  /// Returns these settings, with those of another place where they have none.
  public func withDefaults(from other: StoreSettings) -> StoreSettings {
    var all = self
    all.address = address ?? other.address
    all.key = key ?? other.key
    all.etcdUser = etcdUser ?? other.etcdUser
    all.etcdPassword = etcdPassword ?? other.etcdPassword
    all.etcdCA = etcdCA ?? other.etcdCA
    all.collection = collection ?? other.collection
    return all
  }
}

extension StoreSettings {
  /// The store's kind.
  public var kind: StoreKind { address?.kind ?? .keyring }

  /// The form for a configuration: only what this kind of store uses, and with absolute paths.
  public var persistent: StoreSettings {
    var settings = self
    (settings.key, settings.etcdPassword) = (kind.takesKey ? key?.persistent : nil, etcdPassword?.persistent)
    if !usesKeyring { settings.collection = nil }
    guard kind == .etcd else {
      (settings.etcdUser, settings.etcdPassword, settings.etcdCA) = (nil, nil, nil)
      return settings
    }
    settings.etcdCA = etcdCA.map(absolutePath)
    return settings
  }

  /// Whether the store, its key or its password is in the keyring.
  public var usesKeyring: Bool {
    switch kind {
    case .keyring: true
    case .file: key == .keyring
    case .etcd: key == .keyring || etcdPassword == .keyring
    }
  }

  /// Whether both are one store, in whatever words.
  public func isSameStore(as other: StoreSettings) -> Bool {
    switch (address ?? .keyring, other.address ?? .keyring) {
    case (.keyring, .keyring):
      (collection ?? Setting.collection.standard) == (other.collection ?? Setting.collection.standard)
    case (.file(let one), .file(let another)):
      one == another || EncryptedFileCacheStore.isSameDirectory(one, another)
    case (.etcd(let one), .etcd(let another)):
      one.prefix == another.prefix && !Set(one.endpoints).isDisjoint(with: another.endpoints)
    default: false
    }
  }
}

/// How a program opens a store.
public struct StoreAccess: Sendable {
  /// Whether the keyring may prompt.
  public var prompt: PromptPermission
  /// Whether secrets may go over the bus unencrypted where the keyring refuses to encrypt them.
  public var allowsPlainSession: Bool
  /// The connection to the keyring, where the program has opened one; else each store has its own.
  package var connection: SecretServiceConnection?
  /// Asks a person for a passphrase, on a thread on which it may block.
  public var ask: @Sendable (SecretQuestion) throws(CacheError) -> SecretBytes
  /// Makes what sends requests to etcd: over http to loopback alone, else over TLS with the certificates of a file,
  /// where one is named.
  public var transport: @Sendable (_ certificates: String?) throws(HTTPTransportError) -> any HTTPTransport

  /// Without permission nothing prompts.
  public init(
    prompt: PromptPermission = .denied, allowsPlainSession: Bool = false,
    ask: @escaping @Sendable (SecretQuestion) throws(CacheError) -> SecretBytes,
    transport: @escaping @Sendable (String?) throws(HTTPTransportError) -> any HTTPTransport
  ) {
    self.prompt = prompt
    self.allowsPlainSession = allowsPlainSession
    self.ask = ask
    self.transport = transport
  }
}

extension StoreAccess {
  /// Lets all keyring stores that are made with this access be one client: KeePassXC asks the person for each client.
  public mutating func shareConnection() {
    connection = SecretServiceConnection(allowsPlainSession: allowsPlainSession)
  }
}

extension StoreSettings {
  /// Makes the store. Nothing is opened or asked for before it is used.
  ///
  /// - Throws: ``ConfigurationError`` where it lacks something, such as a key; `HTTPTransportError` for invalid
  ///   certificates and proxies.
  public func store(_ access: StoreAccess) throws -> any CacheStore {
    switch address ?? .keyring {
    case .keyring:
      KeyringCacheStore(
        access.connection ?? SecretServiceConnection(allowsPlainSession: access.allowsPlainSession),
        collection: collection, prompt: access.prompt)
    case .file(let directory):
      EncryptedFileCacheStore(key: try requiredKey(access), directory: directory)
    case .etcd(let cluster):
      try EtcdCacheStore(
        endpoints: cluster.endpoints, prefix: cluster.prefix, key: requiredKey(access), user: user(access),
        transport: access.transport(etcdCA))
    }
  }

  private func requiredKey(_ access: StoreAccess) throws(ConfigurationError) -> KeySource {
    if let key { return source(key, .passphrase, access) }
    let address = (address ?? .keyring).description
    throw ConfigurationError(
      "key_required", "The \(kind == .file ? "file store" : "store in etcd") has no key.",
      advice: "Add --key, or set LLAVERO_KEY or \"key\" in the configuration, to \(KeyChoice.forms). "
        + "\"llavero setup --store \(shellQuoted(address))\" makes a key and writes it into the configuration."
    )
  }

  private func user(_ access: StoreAccess) throws(ConfigurationError) -> EtcdUser? {
    guard let etcdUser else { return nil }
    guard let etcdPassword else {
      throw ConfigurationError(
        "password_required", "The etcd user \(etcdUser) has no password.",
        advice:
          "Add --etcd-password, or set LLAVERO_ETCD_PASSWORD or \"etcd-password\" in the configuration, to "
          + "\(KeyChoice.passwordForms).")
    }
    return EtcdUser(name: etcdUser, password: source(etcdPassword, .password(user: etcdUser), access))
  }

  /// The source of a new key for the store.
  public func source(of newKey: KeyChoice, _ access: StoreAccess) -> KeySource {
    source(newKey, .passphrase, access)
  }

  private func source(_ choice: KeyChoice, _ question: SecretQuestion, _ access: StoreAccess) -> KeySource {
    switch choice {
    case .passphrase:
      .passphrase { [ask = access.ask] (use) throws(CacheError) in
        try ask(use == .set && question == .passphrase ? .newPassphrase : question)
      }
    case .passphraseDescriptor(let descriptor):
      .passphrase { _ throws(CacheError) in try passphrase(from: descriptor) }
    case .file(let path): .keyFile(path: path)
    case .credential(let name): .credential(name: name)
    case .keyring:
      .keyring(
        collection: collection, prompt: access.prompt, allowsPlainSession: access.allowsPlainSession)
    case .portal: .portal()
    }
  }
}

/// Reads a passphrase up to the end, without the line's end.
private func passphrase(from descriptor: Int32) throws(CacheError) -> SecretBytes {
  let limit = 1 << 16
  guard var bytes = readAll(descriptor, limit: limit) else {
    guard errno != EFBIG else {
      throw CacheError(
        .tooLarge, "The passphrase has more than \(limit) bytes.",
        advice: "Give the file that holds the passphrase and nothing else.")
    }
    throw CacheError(
      .unavailable, "The passphrase cannot be read from file descriptor \(descriptor): \(systemReason()).",
      advice: "Open it for the command, for example with \(descriptor)< FILE.")
  }
  defer { wipe(&bytes) }
  // The next reader in this process finds a file at its beginning again.
  lseek(descriptor, 0, SEEK_SET)
  removeLineEnd(&bytes)
  return unsafe bytes.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
}
