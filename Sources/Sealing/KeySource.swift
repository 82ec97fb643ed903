public import SecretService
public import TokenCache

/// What a passphrase is wanted for.
public enum PassphraseUse: Sendable, Hashable {
  /// It opens a store that has one.
  case open
  /// It is for a new store, or takes the place of another key. Ask for it twice.
  case set
}

/// Where the key of a sealed store comes from. The caller chooses; nothing else is tried.
public enum KeySource: Sendable {
  /// What kind of secret the keys of a store are sealed with, by its number in the format.
  public enum Kind: UInt32, Sendable {
    case passphrase = 1
    /// The key is in a key file or a systemd credential.
    case key = 2
    case keyring = 3
    /// The key is made of the secret that the Secret portal has for the application.
    case portal = 4
  }

  /// A passphrase, which scrypt makes a key of: some tenths of a second and 128 MiB each time.
  ///
  /// The closure is called when the passphrase is needed, on a thread on which it may block. It throws what the
  /// call to the store then throws.
  case passphrase(@Sendable (PassphraseUse) throws(CacheError) -> SecretBytes)
  /// A file of 32 bytes or more, all of which is the key. It must belong to the user and be closed to all others.
  case keyFile(path: String)
  /// A systemd credential (systemd.exec(5), `LoadCredential=`) of 32 bytes or more, all of which is the key.
  case credential(name: String)
  /// An item in the Secret Service keyring, which the store makes: the keyring then holds one small secret and is
  /// asked once by each process, however large the cache is.
  ///
  /// - Parameters:
  ///   - collection: The label or name of the collection; the default one unless another is named.
  ///   - prompt: Whether the keyring may ask the person to unlock it.
  ///   - allowsPlainSession: Whether the key may go over the bus in clear where the keyring refuses to encrypt it.
  case keyring(
    collection: String? = nil, prompt: PromptPermission = .denied, allowsPlainSession: Bool = false)
  /// The secret that a sandboxed application has of its own, from the Secret portal (`org.freedesktop.portal.Secret`).
  ///
  /// No other sandboxed application gets it, and a store that is copied into another one's directory does not open
  /// there. Programs outside of a sandbox are not kept out; among themselves they may be one application to the portal.
  ///
  /// - Parameter waitingUpTo: How long the portal may take, which may ask the person to unlock the keyring.
  case portal(waitingUpTo: Duration = .seconds(120))
}
