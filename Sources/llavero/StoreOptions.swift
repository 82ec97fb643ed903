import ArgumentParser
import KeyringStore
import SecretService
import TokenCache

/// Where the cache is.
struct StoreOptions: ParsableArguments {
  @Option(help: "The label or name of the keyring's collection; the default one unless another is named.")
  var collection: String?

  @Flag(help: "Let the keyring ask for its password when it is locked.")
  var unlock = false

  var store: KeyringStore {
    // Long enough to find a password, short enough not to hang a forgotten terminal for ever.
    KeyringStore(collection: collection, prompt: unlock ? .allowed(waitingUpTo: .seconds(120)) : .denied)
  }
}

/// Where the cache is, and which group in it is meant.
struct GroupOptions: ParsableArguments {
  @OptionGroup var store: StoreOptions

  @Option(
    help: "The keychain group; \(KeychainGroup.default.name) unless another is named.",
    transform: { try KeychainGroup($0) })
  var group = KeychainGroup.default

  var cache: TokenCacheAccessor { TokenCacheAccessor(store: store.store, group: group) }
}

/// How the result is printed.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON for programs.")
  var json = false
}
