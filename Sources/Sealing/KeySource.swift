public import SecretService
public import TokenCache

/// The purpose of a passphrase.
public enum PassphraseUse: Sendable, Hashable {
  /// To open a store.
  case open
  /// To set it, for a new store or in place of another key. Ask for it twice.
  case set
}

/// The source of a sealed store's key. No other source is tried.
///
/// For example:
///
/// ```swift
/// let store = EncryptedFileCacheStore(
///   key: .credential(name: "llavero"))
/// ```
public enum KeySource: Sendable {
  /// The kind of secret that a store's keys are sealed with, by its number in the format.
  public enum Kind: UInt32, Sendable {
    case passphrase = 1
    /// The key is in a key file or a systemd credential.
    case key = 2
    case keyring = 3
    /// The key is derived from the application's secret in the Secret portal.
    case portal = 4
  }

  /// A passphrase, from which scrypt derives the key: some tenths of a second and 128 MiB each time.
  ///
  /// The closure is called when the passphrase is needed, on a thread on which it may block. The call to the store throws
  /// its error.
  case passphrase(@Sendable (PassphraseUse) throws(CacheError) -> SecretBytes)
  /// A file of 32 bytes or more, all of which is the key. It must belong to the user or to root, and be
  /// closed to all others; one of root's may be readable for its group, unless the program runs as root.
  case keyFile(path: String)
  /// A systemd credential (systemd.exec(5), `LoadCredential=`) of 32 bytes or more, all of which is the key.
  case credential(name: String)
  /// An item in the Secret Service keyring, which the store makes: the keyring then holds one small secret, and each
  /// process reads it once, however large the cache is.
  ///
  /// - Parameters:
  ///   - collection: The label or name of the collection (default: the default collection).
  ///   - prompt: Whether the keyring may ask the user to unlock it.
  ///   - allowsPlainSession: Whether the key may cross the bus as plaintext if the keyring refuses to encrypt it.
  case keyring(
    collection: String? = nil, prompt: PromptPermission = .denied, allowsPlainSession: Bool = false)
  /// A sandboxed application's own secret, from the Secret portal (`org.freedesktop.portal.Secret`).
  ///
  /// No other sandboxed application gets it, and a store that is copied into another one's directory does not open
  /// there. Programs outside a sandbox are not excluded; the portal may treat all of them as one application.
  ///
  /// - Parameter waitingUpTo: How long the portal may take, which may ask the user to unlock the keyring.
  case portal(waitingUpTo: Duration = .seconds(120))
}
