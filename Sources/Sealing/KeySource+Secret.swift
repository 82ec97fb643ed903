import Crypto
import FoundationEssentials
package import GLibSupport
package import SecretService
import StoreSupport
package import TokenCache

extension KeySource {
  /// The longest key file, in bytes.
  private static let maximumKeySize = 1 << 16
  /// A key of fewer bytes could be guessed.
  private static let minimumKeySize = 32

  /// Where to look for keys, and until when.
  struct Surroundings {
    let environment: [String: String]
    let busAddress: String?
    let cancellable: Cancellable
  }

  var kind: Kind {
    switch self {
    case .passphrase: .passphrase
    case .keyFile, .credential: .key
    case .keyring: .keyring
    case .portal: .portal
    }
  }

  /// How long reading the key may take, with the user's answer; `timeout` for a source that does not ask.
  func timeout(_ timeout: Duration) -> Duration {
    switch self {
    case .passphrase: .seconds(600)
    case .keyring(_, .allowed(let promptTimeout), _): promptTimeout
    // The portal's own timeout comes first, and its error says more.
    case .portal(let portalTimeout): portalTimeout + .seconds(10)
    case .keyring, .keyFile, .credential: timeout
    }
  }

  /// Reads the key of a `keys` file or, to set it, makes or reads that of a new one, whose header it completes. A keyring key is
  /// made in the keyring.
  func key(
    to use: PassphraseUse, _ header: inout SealedKeys.Header, _ surroundings: Surroundings
  ) throws(CacheError) -> SymmetricKey {
    var secret = try secret(use, &header, surroundings)
    defer { wipe(&secret) }
    do {
      return try header.key(from: secret)
    } catch {
      throw error.cacheError(of: "The store")
    }
  }

  /// Removes the key of an obsolete `keys` file from the keyring.
  func forgetKey(_ header: SealedKeys.Header, _ surroundings: Surroundings) throws(CacheError) {
    try item(Self.attribute(header), surroundings)?.remove()
  }

  /// Reads a password from the sources of keys. Blocks.
  ///
  /// A file or credential holds it and perhaps a line end; in the keyring it is the secret of the item with an attribute. `name`
  /// is the purpose, after "the password of".
  package func password(
    of name: String, attribute: (name: String, value: String), environment: [String: String],
    busAddress: String?, _ cancellable: Cancellable
  ) throws(CacheError) -> SecretBytes {
    var secret: [UInt8]
    switch self {
    case .passphrase(let ask):
      secret = unsafe try ask(.open).withUnsafeBytes { unsafe Array($0) }
    case .portal:
      throw CacheError(
        .refused, "The Secret portal returns keys, not the password of \(name).",
        advice: "Use a file, a credential or the keyring.")
    case .keyFile(let path):
      secret = try Self.contents(
        path, called: "file \(path)",
        advice: "It must hold the password of \(name) and be closed to all others.")
    case .credential(let credential):
      secret = try Self.contents(
        inCredential: credential, environment,
        advice: "Put \"LoadCredentialEncrypted=\(credential):FILE\" into the unit.")
    case .keyring:
      let surroundings = Surroundings(
        environment: environment, busAddress: busAddress, cancellable: cancellable)
      guard let found = try item(attribute, surroundings)?.find() else {
        throw CacheError(
          .locked, "The keyring does not hold the password of \(name).",
          advice:
            "Store it with \"secret-tool store --label=etcd \(attribute.name) \(shellQuoted(attribute.value))\"."
        )
      }
      secret = found
    }
    defer { wipe(&secret) }
    removeLineEnd(&secret)
    return unsafe secret.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
  }

  private static func attribute(_ header: SealedKeys.Header) -> KeyringSecret.Attribute {
    ("key", hex(header.salt))
  }

  /// An item of the keyring; `nil` for any other source.
  private func item(_ attribute: KeyringSecret.Attribute, _ surroundings: Surroundings) -> KeyringSecret? {
    guard case .keyring(let collection, let prompt, let allowsPlain) = self else { return nil }
    let connection = SecretServiceConnection(
      busAddress: surroundings.busAddress, allowsPlainSession: allowsPlain)
    return KeyringSecret(
      attribute: attribute, collection: collection, mayPrompt: prompt != .denied, connection: connection,
      cancellable: surroundings.cancellable)
  }

  private func secret(
    _ use: PassphraseUse, _ header: inout SealedKeys.Header, _ surroundings: Surroundings
  ) throws(CacheError) -> [UInt8] {
    switch self {
    case .passphrase(let ask):
      let passphrase = try ask(use)
      guard passphrase.count > 0 else {
        throw CacheError(.wrongKey, "The passphrase is empty.", advice: "Enter a passphrase.")
      }
      return unsafe passphrase.withUnsafeBytes { unsafe Array($0) }
    case .keyFile(let path):
      let make =
        "For a new store, make one with \"(umask 077; set -C; head -c 32 /dev/urandom > \(shellQuoted(path)))\" and keep a copy in a safe place."
      return try Self.contents(
        path, called: "key file \(path)", minimum: Self.minimumKeySize,
        advice: use == .set ? make : Self.lostKeyAdvice)
    case .credential(let name):
      let file = "/etc/credstore.encrypted/\(name)"
      let unit = "Put \"LoadCredentialEncrypted=\(name):\(file)\" into the unit. "
      let make =
        "For a new store, make the credential with \"test ! -e \(shellQuoted(file)) && head -c 32 /dev/urandom | "
        + "systemd-creds encrypt --name=\(shellQuoted(name)) --tpm2-pcrs= - \(shellQuoted(file))\"."
      return try Self.contents(
        inCredential: name, surroundings.environment, minimum: Self.minimumKeySize,
        advice: unit + (use == .set ? make : Self.lostKeyAdvice))
    case .keyring:
      let item = item(Self.attribute(header), surroundings)
      guard let key = try use == .set ? item?.createKey() : item?.find() else {
        throw CacheError(
          .wrongKey, "The keyring does not hold the key of the store.",
          advice:
            "Use the collection that has it, or restore the keyring. List the keys with \"secret-tool search --all "
            + "xdg:schema \(KeyringSecret.keySchema)\".")
      }
      return key
    case .portal(let timeout):
      let portal = try SecretPortal(busAddress: surroundings.busAddress, surroundings.cancellable)
      let (secret, token) = try portal.secret(
        token: header.token, within: timeout, surroundings.cancellable)
      header.token = token
      return unsafe secret.withUnsafeBytes { unsafe Array($0) }
    }
  }

  private static let lostKeyAdvice =
    "The store is sealed with it, and no new key opens it: restore the key from its copy, or name the place where it is."

  private static func contents(
    inCredential name: String, _ environment: [String: String], minimum: Int = 0, advice: String
  ) throws(CacheError) -> [UInt8] {
    guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
      throw CacheError(
        .unavailable, "No systemd credentials found: CREDENTIALS_DIRECTORY is not set.", advice: advice)
    }
    guard !name.isEmpty, !name.contains("/"), name != "..", name != "." else {
      throw CacheError(.unavailable, "\"\(name)\" is not a valid name of a credential.")
    }
    // systemd gives the service's user access by an access list, which the mode shows as rights of the group.
    return try contents(
      "\(directory)/\(name)", called: "credential \(name) in \(directory)", minimum: minimum,
      openToOthers: true, advice: advice)
  }

  /// Reads the bytes of a secret; `called` follows "the" in errors.
  private static func contents(
    _ path: String, called name: String, minimum: Int = 0, openToOthers: Bool = false, advice: String
  ) throws(CacheError) -> [UInt8] {
    let key: [UInt8]?
    do {
      key = try readPrivateFile(path, limit: maximumKeySize, openToOthers: openToOthers)
    } catch {
      throw CacheError(error, "The \(name) cannot be used.")
    }
    guard let key else { throw CacheError(.unavailable, "There is no \(name).", advice: advice) }
    guard key.count >= minimum else {
      throw CacheError(
        .wrongKey, "The \(name) is too short: \(key.count) bytes; a key has at least \(minimum).",
        advice: "Use another key, or restore it from a backup.")
    }
    return key
  }
}
