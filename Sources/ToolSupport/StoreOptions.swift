package import ArgumentParser
package import EncryptedFileStore
import GLibSupport
import KeyringStore
package import Sealing
package import SecretService
package import TokenCache

/// The kinds of store that the tool can use.
package enum StoreKind: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The Secret Service keyring.
  case keyring
  /// Encrypted files.
  case file
}

/// Where the cache is.
package struct StoreOptions: ParsableArguments {
  @Option(
    name: .customLong("store"), help: "Where the tokens are kept; in the keyring unless told otherwise.")
  package var kind: StoreKind?

  @Option(help: "Where the key of the file store comes from: \(KeyChoice.forms).")
  package var key: KeyChoice?

  @Option(help: "The label or name of the keyring's collection; the default one unless another is named.")
  package var collection: String?

  @Flag(help: "Let the keyring ask for its password when it is locked.")
  package var unlock = false

  @Flag(
    name: .customLong("allow-plain-session"),
    help: "Let secrets go over the bus in clear where the keyring refuses to encrypt them.")
  package var allowsPlainSession = false

  package init() {}

  /// A file store without a key ends the process.
  package var store: any CacheStore {
    if let fileStore { return fileStore }
    return KeyringCacheStore(
      collection: chosenCollection, prompt: prompt, allowsPlainSession: allowsPlainSession)
  }

  /// The store of encrypted files, where that is the one that was chosen.
  package var fileStore: EncryptedFileCacheStore? {
    guard kind ?? Settings.current.store == .file else { return nil }
    guard let key = chosenKey else {
      Failure.exit(
        with: Failure.Message(
          code: .usage, name: "key_required", message: "The file store was chosen, and no key for it.",
          advice: "Add --key, or set LLAVERO_KEY or \"key\" in the configuration, to \(KeyChoice.forms). "
            + "\"llavero setup --store file\" makes a key and says it in the configuration."))
    }
    return EncryptedFileCacheStore(key: source(key))
  }

  /// Hands the key to the program that takes over by an exec.
  ///
  /// - Returns: The descriptor that the program needs for that, if it needs one.
  package func handOverKey() -> Int32? { fileStore == nil ? nil : chosenKey?.handOver() }

  /// Where a key comes from, in the keyring's collection that was chosen.
  package func source(_ key: KeyChoice) -> KeySource {
    key.source(collection: chosenCollection, prompt: prompt, allowsPlainSession: allowsPlainSession)
  }

  /// Where the key of the file store comes from, if that was said.
  package var chosenKey: KeyChoice? { key ?? Settings.current.key }

  /// The name of the keyring's collection, if that was said.
  package var chosenCollection: String? { collection ?? Settings.current.collection }

  /// The end of a command line that is to use the same store, as a shell takes it: what this one says of the store.
  /// What the environment and the configuration say holds for that one too, but for an open file.
  package var repeated: String {
    var words = named.flatMap { ["--" + $0.name, $0.value] }
    if allowsPlainSession { words.append("--allow-plain-session") }
    let text = words.map { " " + shellQuoted($0) }.joined()
    guard fileStore != nil, case .passphraseDescriptor(let number)? = chosenKey else { return text }
    return text + " \(number)< FILE"
  }

  /// What the command line says of the store, by the names that it has as a setting, too.
  package var named: [(name: String, value: String)] {
    [("store", kind?.rawValue), ("key", key?.argument), ("collection", collection)].compactMap {
      name, value in
      value.map { (name: name, value: $0) }
    }
  }

  /// Whether the keyring may ask: long enough to find a password, short enough not to hang a forgotten terminal for
  /// ever.
  package var prompt: PromptPermission { unlock ? .allowed(waitingUpTo: .seconds(120)) : .denied }
}

/// Where the cache is, and which group in it is meant.
package struct GroupOptions: ParsableArguments {
  @OptionGroup package var store: StoreOptions

  @Option(
    name: .customLong("group"),
    help: "The keychain group; \(KeychainGroup.default.name) unless another is named.",
    transform: { try KeychainGroup($0) })
  package var named: KeychainGroup?

  package init() {}

  package var group: KeychainGroup { named ?? Settings.current.group ?? .default }

  package var cache: TokenCacheAccessor { TokenCacheAccessor(store: store.store, group: group) }
}

extension TokenCacheAccessor {
  /// Throws now what would hinder a write: that a file store's key is out of reach, or the store cannot be made.
  package func prepareStore() async throws(CacheError) {
    try await (store as? EncryptedFileCacheStore)?.open(makingStore: true)
  }
}

/// How the result is printed.
package struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON for programs.")
  package var json = false

  package init() {}
}
