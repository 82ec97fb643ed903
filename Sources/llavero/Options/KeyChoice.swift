import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import Sealing
import SecretService
import TokenCache

/// Where the key of a store, or a password, comes from, as the person says it. It never holds the secret itself.
enum KeyChoice: ExpressibleByArgument, Sendable, Hashable {
  case passphrase
  case passphraseDescriptor(Int32)
  case file(String)
  case credential(String)
  case keyring
  case portal

  static let forms = "passphrase, passphrase-fd:N, file:PATH, credential:NAME, keyring or portal"

  /// How the person names a key of a kind.
  static func forms(of kind: KeySource.Kind) -> String {
    switch kind {
    case .passphrase: "--key passphrase"
    case .key: "--key file:PATH or --key credential:NAME"
    case .keyring: "--key keyring"
    case .portal: "--key portal"
    }
  }

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
      String.init)
    let value = parts.count == 2 && !parts[1].isEmpty ? parts[1] : nil
    switch (parts[0], value) {
    case ("passphrase", nil) where parts.count == 1: self = .passphrase
    case ("keyring", nil) where parts.count == 1: self = .keyring
    case ("portal", nil) where parts.count == 1: self = .portal
    case ("passphrase-fd", let value?):
      guard let descriptor = Int32(value), descriptor >= 0 else { return nil }
      self = .passphraseDescriptor(descriptor)
    case ("file", let path?): self = .file(path)
    case ("credential", let name?): self = .credential(name)
    default: return nil
    }
  }

  /// How the person says it.
  var argument: String {
    switch self {
    case .passphrase: "passphrase"
    case .passphraseDescriptor(let descriptor): "passphrase-fd:\(descriptor)"
    case .file(let path): "file:" + path
    case .credential(let name): "credential:" + name
    case .keyring: "keyring"
    case .portal: "portal"
    }
  }

  /// How the configuration says it: for every directory, and not by a descriptor, which is open for one command alone.
  var setting: String {
    switch self {
    case .passphraseDescriptor: Self.passphrase.argument
    case .file(let path) where !path.hasPrefix("/"):
      Self.file(FileManager.default.currentDirectoryPath + "/" + path).argument
    default: argument
    }
  }

  /// The source for the store.
  func source(of options: StoreOptions) -> KeySource {
    switch self {
    case .passphrase: .passphrase { (use) throws(CacheError) in try Self.ask(use) }
    case .passphraseDescriptor(let descriptor):
      .passphrase { _ throws(CacheError) in try Self.read(descriptor) }
    case .file(let path): .keyFile(path: path)
    case .credential(let name): .credential(name: name)
    case .keyring:
      .keyring(
        collection: options.chosenCollection, prompt: options.prompt,
        allowsPlainSession: options.allowsPlainSession)
    case .portal: .portal()
    }
  }

  /// The source of the password of etcd's user.
  func passwordSource(of name: String, _ options: StoreOptions) -> KeySource {
    guard self == .passphrase else { return source(of: options) }
    return .passphrase { _ throws(CacheError) in
      try Self.ask("Password of \(name): ", for: name, option: "--etcd-password")
    }
  }

  private static func ask(_ use: PassphraseUse) throws(CacheError) -> SecretBytes {
    switch use {
    case .open: return try ask("Passphrase of the store: ")
    case .set:
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
    _ question: String, for name: String = "the store", option: String = "--key"
  ) throws(CacheError) -> SecretBytes {
    if let answer = try Terminal.askSecretly(question) { return answer }
    throw CacheError(
      .locked, "There is no terminal to ask for the passphrase of \(name).",
      advice:
        "Give it in a file descriptor: \(option) passphrase-fd:3 3< FILE. Or use another source: \(forms).")
  }

  /// Reads a passphrase up to the end, without the line's end.
  private static func read(_ descriptor: Int32) throws(CacheError) -> SecretBytes {
    let limit = 1 << 16
    guard var bytes = readAll(descriptor, limit: limit) else {
      guard errno != EFBIG else {
        throw CacheError(
          .tooLarge, "The passphrase has more than \(limit) bytes.",
          advice: "Give the file that holds the passphrase and nothing else.")
      }
      throw CacheError(
        .unavailable,
        "The passphrase cannot be read from file descriptor \(descriptor): \(systemReason()).",
        advice: "Open it for the command, for example with \(descriptor)< FILE.")
    }
    defer { wipe(&bytes) }
    // The next reader in this process finds a file at its beginning again.
    lseek(descriptor, 0, SEEK_SET)
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return unsafe bytes.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
  }
}
