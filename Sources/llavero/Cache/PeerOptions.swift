import ArgumentParser
import MSALExtensionsStore
import SecretService
import TokenCache

/// What has to be said of a cache that is not in the registry.
struct PeerOptions: ParsableArguments {
  @Option(
    help: "For a cache of a program's own making: the file that it names as the place of its cache.",
    completion: .file())
  var location: String?

  @Option(help: "The name of its keyring schema, where the program gives one.")
  var schema: String?

  @Option(
    name: .customLong("attribute"), help: "One of its keyring attributes, as name=value; may be repeated.")
  var attributes: [String] = []

  /// The cache that goes by a name: one of the registry, or one of a library's, described by the options.
  func peer(named name: String) throws -> PeerCache {
    let registry = PeerRegistry()
    if let known = registry[name] {
      guard location == nil, schema == nil, attributes.isEmpty else {
        throw ValidationError(
          "Where \(name) is kept is known: leave out --location, --schema and --attribute.")
      }
      return known
    }
    let library = Library(rawValue: name)
    guard let library else {
      let names = registry.caches.map(\.name) + Library.allCases.map(\.rawValue)
      throw ValidationError("There is no cache called \(name). There are \(names.joined(separator: ", ")).")
    }
    guard let location, !location.isEmpty else {
      throw ValidationError("Add --location: the file that the program names.")
    }
    let attributes = try pairs()
    switch library {
    case .python:
      return .msalExtensions(location: location, schema: schema, attributes: attributes)
    case .dotNet:
      return .dotNet(location: location, schema: try required(schema), attributes: attributes)
    case .go:
      return .go(location: location, schema: try required(schema), attributes: attributes)
    case .node:
      guard let service = attributes["service"], let account = attributes["account"] else {
        throw ValidationError("Add --attribute service=... and --attribute account=...")
      }
      return .node(location: location, service: service, account: account)
    case .file:
      return .file(location)
    }
  }

  private enum Library: String, CaseIterable {
    case python = "msal-extensions"
    case dotNet = "msal-extensions-dotnet"
    case go = "msal-extensions-go"
    case node = "msal-node-extensions"
    case file
  }

  private func required(_ schema: String?) throws -> String {
    guard let schema else { throw ValidationError("Add --schema: the name that the program gives.") }
    return schema
  }

  private func pairs() throws -> [String: String] {
    try attributes.reduce(into: [:]) { pairs, text in
      guard let equals = text.firstIndex(of: "=") else {
        throw ValidationError("\(text) is no attribute: it should be name=value.")
      }
      pairs[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
  }
}

extension StoreOptions {
  /// Another program's cache, with the permission to prompt that the options say. Its collection is the default one
  /// unless the command line names another: the settings are about Llavero's own.
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
