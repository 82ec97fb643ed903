import GLibSupport
public import Sealing

/// Where the key of a store, or a password, comes from, as a person names it. It never holds the secret itself.
public enum KeyChoice: Sendable, Hashable {
  /// A passphrase that the person is asked for.
  case passphrase
  /// A passphrase that is read from a file descriptor.
  case passphraseDescriptor(Int32)
  /// A key file, by its path.
  case file(String)
  /// A systemd credential, by its name.
  case credential(String)
  /// An item in the keyring.
  case keyring
  /// The Secret portal of a sandbox.
  case portal

  /// What a key may be, for messages and help.
  public static let forms = "passphrase, passphrase-fd:N, file:PATH, credential:NAME, keyring or portal"

  /// What a password may be: the portal has only keys.
  public static let passwordForms = "passphrase, passphrase-fd:N, file:PATH, credential:NAME or keyring"

  /// How a person names a key of a kind.
  public static func forms(of kind: KeySource.Kind) -> String {
    switch kind {
    case .passphrase: "--key passphrase"
    case .key: "--key file:PATH or --key credential:NAME"
    case .keyring: "--key keyring"
    case .portal: "--key portal"
    }
  }

  /// - Throws: ``ConfigurationError``, which does not quote the text: it may be the secret itself.
  public init(_ text: String) throws(ConfigurationError) { try self.init(text, forms: Self.forms) }

  /// Where a password comes from.
  ///
  /// - Throws: ``ConfigurationError``, which does not quote the text.
  public init(password text: String) throws(ConfigurationError) {
    try self.init(text, forms: Self.passwordForms)
    if self == .portal { throw ConfigurationError(value: "expected \(Self.passwordForms)") }
  }

  private init(_ text: String, forms: String) throws(ConfigurationError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let value = parts.count == 2 && !parts[1].isEmpty ? parts[1] : nil
    switch (parts[0], value) {
    case ("passphrase", nil) where parts.count == 1: self = .passphrase
    case ("keyring", nil) where parts.count == 1: self = .keyring
    case ("portal", nil) where parts.count == 1: self = .portal
    case ("passphrase-fd", let value?):
      guard let descriptor = Int32(value), descriptor >= 0 else {
        throw ConfigurationError(value: "expected \(forms)")
      }
      self = .passphraseDescriptor(descriptor)
    case ("file", let path?):
      try ConfigurationError.checkExpanded(path)
      self = .file(path)
    case ("credential", let name?): self = .credential(name)
    default: throw ConfigurationError(value: "expected \(forms)")
    }
  }

  /// How the command line names it.
  public var argument: String {
    switch self {
    case .passphrase: "passphrase"
    case .passphraseDescriptor(let descriptor): "passphrase-fd:\(descriptor)"
    case .file(let path): "file:" + path
    case .credential(let name): "credential:" + name
    case .keyring: "keyring"
    case .portal: "portal"
    }
  }

  /// The form for a configuration: with an absolute path, and without a descriptor, which is open for one command only.
  public var persistent: KeyChoice {
    switch self {
    case .passphraseDescriptor: .passphrase
    case .file(let path): .file(absolutePath(path))
    default: self
    }
  }
}

/// What a person is asked for.
public enum SecretQuestion: Sendable, Hashable {
  /// The passphrase that opens a store.
  case passphrase
  /// A new passphrase, which is asked for twice.
  case newPassphrase
  /// The password of a user of etcd.
  case password(user: String)
}
