import Crypto
import FoundationEssentials
import GLibSupport
import SecretService
import StoreSupport
import TokenCache

extension KeySource {
  /// The longest key file, in bytes.
  private static let maximumKeySize = 1 << 16
  /// A key of fewer bytes could be guessed.
  private static let minimumKeySize = 32

  /// Where keys are looked for: the process's environment, the session bus, and until when.
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

  /// How long the person has to come up with the key.
  func patience(_ timeout: Duration) -> Duration {
    switch self {
    case .passphrase: .seconds(600)
    case .keyring(_, .allowed(let patience), _): patience
    // The portal's own deadline comes first, and says more.
    case .portal(let patience): patience + .seconds(10)
    case .keyring, .keyFile, .credential: timeout
    }
  }

  /// The key for a new `keys` file, whose header then says by what it is found. One that belongs into the keyring is
  /// made there.
  func newKey(
    _ header: inout SealedKeys.Header, _ surroundings: Surroundings
  ) throws(CacheError) -> SymmetricKey {
    let item = keyringItem(header, surroundings)
    var secret = if let item { try item.create() } else { try secret(.set, &header, surroundings) }
    return try derive(&secret, header)
  }

  /// The key of a `keys` file.
  func key(_ header: SealedKeys.Header, _ surroundings: Surroundings) throws(CacheError) -> SymmetricKey {
    let item = keyringItem(header, surroundings)
    var asked = header
    var secret = if let item { try item.find() } else { try secret(.open, &asked, surroundings) }
    return try derive(&secret, header)
  }

  /// Removes the key of a `keys` file that is no longer in use from the keyring.
  func forgetKey(_ header: SealedKeys.Header, _ surroundings: Surroundings) throws(CacheError) {
    try keyringItem(header, surroundings)?.remove()
  }

  private func keyringItem(_ header: SealedKeys.Header, _ surroundings: Surroundings) -> KeyringKey? {
    guard case .keyring(let collection, let prompt, let allowsPlain) = self else { return nil }
    return KeyringKey(
      salt: header.salt, collection: collection, mayPrompt: prompt != .denied,
      connection: SecretServiceConnection(
        busAddress: surroundings.busAddress, allowsPlainSession: allowsPlain),
      cancellable: surroundings.cancellable)
  }

  /// Makes the key, and wipes what it is made of.
  private func derive(
    _ secret: inout [UInt8], _ header: SealedKeys.Header
  ) throws(CacheError) -> SymmetricKey {
    defer { wipe(&secret) }
    do {
      return try header.key(from: secret)
    } catch {
      throw error.cacheError(of: "The store")
    }
  }

  private func secret(
    _ use: PassphraseUse, _ header: inout SealedKeys.Header, _ surroundings: Surroundings
  ) throws(CacheError) -> [UInt8] {
    switch self {
    case .passphrase(let ask):
      let passphrase = try ask(use)
      guard passphrase.count > 0 else {
        throw CacheError(.wrongKey, "The passphrase is empty.", advice: "Give one that is not.")
      }
      return unsafe passphrase.withUnsafeBytes { unsafe Array($0) }
    case .keyFile(let path): return try Self.key(inFile: path)
    case .credential(let name): return try Self.key(inCredential: name, surroundings.environment)
    case .keyring: return []
    case .portal(let patience):
      do throws(SecretPortalError) {
        let portal = try SecretPortal(busAddress: surroundings.busAddress, surroundings.cancellable)
        let (secret, token) = try portal.secret(
          token: header.token, within: patience, surroundings.cancellable)
        header.token = token
        return unsafe secret.withUnsafeBytes { unsafe Array($0) }
      } catch {
        throw CacheError(error)
      }
    }
  }

  private static func key(inFile path: String) throws(CacheError) -> [UInt8] {
    let make =
      "\"(umask 077; set -C; head -c 32 /dev/urandom > \(shellQuoted(path)))\" makes one; keep a copy in a safe place."
    return try key(path, called: "key file \(path)", advice: "For a new store, \(make)")
  }

  private static func key(
    inCredential name: String, _ environment: [String: String]
  ) throws(CacheError) -> [UInt8] {
    let file = "/etc/credstore.encrypted/\(name)"
    let advice =
      "Put \"LoadCredentialEncrypted=\(name):\(file)\" into the unit. For a new store, "
      + "\"test ! -e \(shellQuoted(file)) && head -c 32 /dev/urandom | "
      + "systemd-creds encrypt --name=\(shellQuoted(name)) - \(shellQuoted(file))\" makes the credential."
    guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
      throw CacheError(
        .unavailable, "There are no systemd credentials: CREDENTIALS_DIRECTORY is not set.", advice: advice)
    }
    guard !name.isEmpty, !name.contains("/"), name != "..", name != "." else {
      throw CacheError(.unavailable, "\"\(name)\" is no name of a credential.")
    }
    // systemd lets the service's user in by an access list, which the mode shows as rights of the group.
    return try key(
      "\(directory)/\(name)", called: "credential \(name) in \(directory)", openToOthers: true, advice: advice
    )
  }

  /// The bytes of a key; `called` follows "the".
  private static func key(
    _ path: String, called name: String, openToOthers: Bool = false, advice: String
  ) throws(CacheError) -> [UInt8] {
    let key: [UInt8]?
    do {
      key = try readPrivateFile(path, limit: maximumKeySize, openToOthers: openToOthers)
    } catch {
      throw CacheError(error, "The \(name) cannot be used.")
    }
    guard let key else { throw CacheError(.unavailable, "There is no \(name).", advice: advice) }
    guard key.count >= minimumKeySize else {
      throw CacheError(
        .wrongKey, "The \(name) has \(key.count) bytes; a key has \(minimumKeySize) at least.",
        advice: "Name another, or restore it from a backup.")
    }
    return key
  }
}
