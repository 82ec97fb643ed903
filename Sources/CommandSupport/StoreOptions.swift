package import ArgumentParser
import KeyringStore
import SecretService
package import TokenCache

/// The kinds of store that the tool can use.
package enum StoreKind: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The Secret Service keyring.
  case keyring
}

/// Where the cache is.
package struct StoreOptions: ParsableArguments {
  @Option(
    name: .customLong("store"), help: "Where the tokens are kept; in the keyring unless told otherwise.")
  package var kind: StoreKind?

  @Option(help: "The label or name of the keyring's collection; the default one unless another is named.")
  package var collection: String?

  @Flag(help: "Let the keyring ask for its password when it is locked.")
  package var unlock = false

  package init() {}

  package var store: any CacheStore {
    switch kind ?? Settings.current.store ?? .keyring {
    case .keyring:
      // Long enough to find a password, short enough not to hang a forgotten terminal for ever.
      KeyringStore(
        collection: collection ?? Settings.current.collection,
        prompt: unlock ? .allowed(waitingUpTo: .seconds(120)) : .denied)
    }
  }
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

/// How the result is printed.
package struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON for programs.")
  package var json = false

  package init() {}
}
