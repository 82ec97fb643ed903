import ArgumentParser
import MSALExtensionsStore
import SecretService
import TokenCache

/// The options of a cache that is not in the registry.
struct PeerOptions: ParsableArguments {
  @Option(help: "The file that the program names.", completion: .file())
  var location: String?

  @Option(help: "Its keyring schema, if any.")
  var schema: String?

  @Option(
    name: .customLong("attribute"),
    help: ArgumentHelp("A keyring attribute; repeatable.", valueName: "name=value"))
  var attributes: [NamedValue] = []

  private var isEmpty: Bool { location == nil && schema == nil && attributes.isEmpty }

  /// Whether a text of the command line is the name of a cache. "file" is one only with a location, else it is a store.
  ///
  /// - Throws: `ValidationError` where the options are given without such a name.
  func isNamed(by text: String) throws -> Bool {
    let library = Library(rawValue: text)
    if PeerRegistry()[text] != nil || library != nil && (library != .file || !isEmpty) { return true }
    guard isEmpty else {
      throw ValidationError("--location, --schema and --attribute are for the name of a cache.")
    }
    return false
  }

  /// Returns the cache with a name: one of the registry, or one of a library, described by the options.
  func peer(named name: String) throws -> PeerCache {
    let registry = PeerRegistry()
    if let known = registry[name] {
      guard isEmpty else {
        throw ValidationError(
          "The location of \(name) is known: omit --location, --schema and --attribute.")
      }
      return known
    }
    guard let library = Library(rawValue: name) else {
      let names = registry.caches.map(\.name) + Self.libraries
      throw ValidationError("Unknown cache \(name): expected one of \(names.joined(separator: ", ")).")
    }
    guard let location, !location.isEmpty else {
      throw ValidationError("Add --location: the file that the program names.")
    }
    let attributes = Dictionary(attributes.map { ($0.name, $0.value) }) { $1 }
    switch library {
    case .python: return .msalExtensions(location: location, schema: schema, attributes: attributes)
    case .dotNet, .go:
      guard let schema else { throw ValidationError("Add --schema: the name that the program gives.") }
      return library == .go
        ? .go(location: location, schema: schema, attributes: attributes)
        : .dotNet(location: location, schema: schema, attributes: attributes)
    case .node:
      guard let service = attributes["service"], let account = attributes["account"] else {
        throw ValidationError("Add --attribute service=... and --attribute account=...")
      }
      return .node(location: location, service: service, account: account)
    case .file: return .file(location)
    }
  }

  /// The names that stand for a cache with a location.
  static var libraries: [String] { Library.allCases.map(\.rawValue) }

  private enum Library: String, CaseIterable {
    case python = "msal-extensions"
    case dotNet = "msal-extensions-dotnet"
    case go = "msal-extensions-go"
    case node = "msal-node-extensions"
    case file
  }
}

extension StoreOptions {
  /// Returns the store of another program's cache. Its collection is that of the command line or the default one: the
  /// settings are for Llavero's own cache.
  func store(
    of peer: PeerCache, group: KeychainGroup, client: SecretServiceConnection? = nil,
    timeout: Duration = .seconds(25)
  ) -> MSALExtensionsCacheStore {
    MSALExtensionsCacheStore(
      peer, group: group, collection: collection, prompt: prompt, timeout: timeout,
      client: client ?? connection)
  }

  /// A connection to the keyring, which several stores can share.
  var connection: SecretServiceConnection { SecretServiceConnection(allowsPlainSession: allowsPlainSession) }
}
