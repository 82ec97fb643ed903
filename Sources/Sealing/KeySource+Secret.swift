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

  /// A password that comes from where keys come from: a file or credential holds it and perhaps a line end; in the keyring
  /// it is the secret of the item with an attribute.
  ///
  /// - Parameters:
  ///   - name: What it is the password for, after "the password of".
  ///   - attribute: The item's attribute.
  ///   - environment: Where credentials are looked for.
  ///   - busAddress: The session bus of the keyring; the environment's unless one is given.
  ///   - cancellable: Ends the waiting for the keyring.
  /// - Returns: The password.
  /// - Throws: ``CacheError`` when it cannot be had. It blocks.
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
        .refused, "The Secret portal gives keys, and not the password of \(name).",
        advice: "Name a file, a credential or the keyring.")
    case .keyFile(let path):
      secret = try Self.contents(
        path, called: "file \(path)",
        advice: "It is to hold the password of \(name), and to be closed to all others.")
    case .credential(let credential):
      secret = try Self.contents(
        inCredential: credential, environment,
        advice: "Put \"LoadCredentialEncrypted=\(credential):FILE\" into the unit.")
    case .keyring(let collection, let prompt, let allowsPlain):
      secret = try KeyringSecret(
        attribute: attribute, collection: collection, mayPrompt: prompt != .denied,
        connection: SecretServiceConnection(busAddress: busAddress, allowsPlainSession: allowsPlain),
        cancellable: cancellable
      ).find(
        orThrow: CacheError(
          .locked, "The keyring does not hold the password of \(name).",
          advice:
            "\"secret-tool store --label=etcd \(attribute.name) \(shellQuoted(attribute.value))\" puts it there."
        ))
    }
    defer { wipe(&secret) }
    if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
    if secret.last == UInt8(ascii: "\r") { secret.removeLast() }
    return unsafe secret.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
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
    let name = "key file \(path)"
    return try checked(contents(path, called: name, advice: "For a new store, \(make)"), called: name)
  }

  private static func key(
    inCredential name: String, _ environment: [String: String]
  ) throws(CacheError) -> [UInt8] {
    let file = "/etc/credstore.encrypted/\(name)"
    let advice =
      "Put \"LoadCredentialEncrypted=\(name):\(file)\" into the unit. For a new store, "
      + "\"test ! -e \(shellQuoted(file)) && head -c 32 /dev/urandom | "
      + "systemd-creds encrypt --name=\(shellQuoted(name)) - \(shellQuoted(file))\" makes the credential."
    return try checked(
      contents(inCredential: name, environment, advice: advice), called: "credential \(name)")
  }

  private static func contents(
    inCredential name: String, _ environment: [String: String], advice: String
  ) throws(CacheError) -> [UInt8] {
    guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
      throw CacheError(
        .unavailable, "There are no systemd credentials: CREDENTIALS_DIRECTORY is not set.", advice: advice)
    }
    guard !name.isEmpty, !name.contains("/"), name != "..", name != "." else {
      throw CacheError(.unavailable, "\"\(name)\" is no name of a credential.")
    }
    // systemd lets the service's user in by an access list, which the mode shows as rights of the group.
    return try contents(
      "\(directory)/\(name)", called: "credential \(name) in \(directory)", openToOthers: true, advice: advice
    )
  }

  /// The bytes of a secret; `called` follows "the".
  private static func contents(
    _ path: String, called name: String, openToOthers: Bool = false, advice: String
  ) throws(CacheError) -> [UInt8] {
    let key: [UInt8]?
    do {
      key = try readPrivateFile(path, limit: maximumKeySize, openToOthers: openToOthers)
    } catch {
      throw CacheError(error, "The \(name) cannot be used.")
    }
    guard let key else { throw CacheError(.unavailable, "There is no \(name).", advice: advice) }
    return key
  }

  private static func checked(_ key: [UInt8], called name: String) throws(CacheError) -> [UInt8] {
    guard key.count >= minimumKeySize else {
      throw CacheError(
        .wrongKey, "The \(name) has \(key.count) bytes; a key has \(minimumKeySize) at least.",
        advice: "Name another, or restore it from a backup.")
    }
    return key
  }
}
