import EtcdStore
import GLibSupport
import TokenCache

/// Where a store is, in the form in which the command line, the environment and the configuration name it.
///
/// For example:
///
/// ```swift
/// let address = try StoreAddress("file:/srv/example/cache")
/// ```
public enum StoreAddress: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The Secret Service keyring: `keyring`.
  case keyring
  /// Encrypted files: `file` for the default directory, which is `nil` here, else `file:DIR`.
  case file(directory: String?)
  /// A cluster of etcd: `etcd+https://HOST:PORT,HOST:PORT/PREFIX`.
  case etcd(Cluster)

  /// The members of a cluster of etcd, and what the names of the store's values begin with.
  public struct Cluster: Sendable, Hashable, Codable {
    /// Such as `https://etcd-1.example.com:2379`.
    public let endpoints: [String]
    public let prefix: String

    /// The prefix of a store that names none.
    public static let defaultPrefix = "/llavero"
  }

  /// What an address may be, for messages and help.
  public static let forms = "keyring, file, file:DIR or etcd+https://HOST:PORT,HOST:PORT/PREFIX"

  /// Reads an address. A directory is relative to the working directory.
  ///
  /// - Throws: ``ConfigurationError``.
  public init(_ text: String) throws(ConfigurationError) {
    if text == "keyring" {
      self = .keyring
    } else if text == "file" {
      self = .file(directory: nil)
    } else if text.hasPrefix("file:") {
      self = .file(directory: try Self.directory(text.dropFirst("file:".count)))
    } else if let scheme = ["https", "http"].first(where: { text.hasPrefix("etcd+\($0)://") }) {
      self = .etcd(try Cluster(text.dropFirst("etcd+://".count + scheme.count), scheme: scheme))
    } else {
      throw ConfigurationError(value: "expected \(Self.forms)")
    }
  }

  private static func directory(_ text: Substring) throws(ConfigurationError) -> String {
    guard !text.isEmpty else { throw ConfigurationError(value: "expected a directory after \"file:\"") }
    try ConfigurationError.checkExpanded(text)
    // Two spellings of a directory are one store.
    let parts = absolutePath(String(text)).split(separator: "/").filter { $0 != "." }
    return "/" + parts.joined(separator: "/")
  }

  /// Whether the text names an address rather than a file: one of a store's schemes, or its name alone.
  public static func isAddress(_ text: String) -> Bool {
    ["keyring", "file", "etcd"].contains(text)
      || ["file:", "etcd+http://", "etcd+https://"].contains(where: text.hasPrefix)
  }

  public var description: String {
    switch self {
    case .keyring: "keyring"
    case .file(let directory): directory.map { "file:" + $0 } ?? "file"
    case .etcd(let cluster): cluster.description
    }
  }

  /// The store's kind.
  public var kind: StoreKind {
    switch self {
    case .keyring: .keyring
    case .file: .file
    case .etcd: .etcd
    }
  }
}

extension StoreAddress.Cluster: CustomStringConvertible {
  /// Reads what comes after `etcd+https://`.
  fileprivate init(_ text: Substring, scheme: String) throws(ConfigurationError) {
    let hosts = text.prefix { $0 != "/" }
    guard !hosts.isEmpty else {
      throw ConfigurationError(value: "expected HOST:PORT after \"etcd+\(scheme)://\"")
    }
    endpoints = hosts.split(separator: ",", omittingEmptySubsequences: false).map { "\(scheme)://\($0)" }
    let prefix = text.dropFirst(hosts.count)
    let isRoot = prefix.allSatisfy { $0 == "/" }
    self.prefix = isRoot ? Self.defaultPrefix : String(prefix.reversed().drop { $0 == "/" }.reversed())
    do throws(CacheError) {
      try EtcdCacheStore.check(endpoints: self.endpoints, prefix: self.prefix)
    } catch {
      throw ConfigurationError(value: error.message)
    }
  }

  public var description: String {
    let scheme = endpoints.first.map { $0.prefix { $0 != ":" } } ?? "https"
    let hosts = endpoints.map { $0.dropFirst(scheme.count + "://".count) }
    return "etcd+\(scheme)://\(hosts.joined(separator: ","))\(prefix)"
  }
}

/// The kinds of store that tool and window can use.
public enum StoreKind: String, Sendable, Hashable, CaseIterable {
  /// The Secret Service keyring.
  case keyring
  /// Encrypted files.
  case file
  /// A cluster of etcd, for several machines.
  case etcd

  /// Where its groups are, for a sentence.
  public var place: String {
    switch self {
    case .keyring: "in the keyring"
    case .file: "in the file store"
    case .etcd: "in etcd"
    }
  }

  /// Whether its tokens are sealed with a key that is chosen apart.
  public var takesKey: Bool { self != .keyring }
}
