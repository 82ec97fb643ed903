import FoundationEssentials
import GLibSupport

/// A token cache that another program keeps: where it is, how it is written, and how its users take turns.
///
/// ``PeerRegistry`` has the known ones. A cache of a program's own making is named after the library that
/// keeps it:
///
/// ```swift
/// let cache = PeerCache.msalExtensions(location: "/home/alice/.my_app/token_cache")
/// ```
public struct PeerCache: Sendable, Hashable {
  /// Where a cache is kept.
  public enum Place: Sendable, Hashable {
    /// The cache is the item of the default collection that has exactly these attributes, the schema among them.
    /// A new one gets the label.
    case item(label: String, attributes: [String: String])
    /// The cache is a file, in clear.
    case file(String)
  }

  /// A file by whose time of modification other processes see that the cache has changed.
  public struct Signal: Sendable, Hashable {
    public let path: String
    /// What is in a new one.
    public let contents: String

    public init(_ path: String, contents: String = "") {
      self.path = path
      self.contents = contents
    }
  }

  /// What the command line calls it.
  public let name: String
  /// The programs that use it, for people.
  public let users: String
  public let place: Place
  /// How a new cache is written; one that exists keeps its encoding.
  public let encoding: PayloadEncoding
  /// Touched after each change. Without it MSAL for Python takes the item for absent and writes over it.
  public let signals: [Signal]
  /// The files that the users lock while they read or write. All of them are locked.
  public let lockFiles: [String]
  /// What its users do when a plaintext file of theirs is gone.
  public let afterRemoval: String?

  /// - Parameters:
  ///   - name: What the command line calls it.
  ///   - users: The programs that use it.
  ///   - place: Where it is.
  ///   - encoding: How a new one is written.
  ///   - signals: The files that say that it has changed.
  ///   - lockFiles: The files to lock; unless named, `<signal>.lockfile` of each signal.
  ///   - afterRemoval: What the users do when a plaintext file is gone.
  public init(
    name: String, users: String, place: Place, encoding: PayloadEncoding, signals: [Signal] = [],
    lockFiles: [String]? = nil, afterRemoval: String? = nil
  ) {
    self.name = name
    self.users = users
    self.place = place
    self.encoding = encoding
    self.signals = signals
    self.afterRemoval = afterRemoval
    // Sorted, so that two programs that take several never wait for each other.
    self.lockFiles = Set(lockFiles ?? signals.map { $0.path + ".lockfile" }).sorted()
  }

  /// The file of a plaintext cache.
  public var file: String? { if case .file(let path) = place { path } else { nil } }

  /// The schema of a keyring item.
  package var schema: String? {
    if case .item(_, let attributes) = place { attributes[Self.schema] } else { nil }
  }

  /// Whether the file also tells the users of a keyring item that it has changed, and so must stay.
  public var isSignalOfAnItem: Bool { signals.contains { $0.path == file } }
}

extension PeerCache {
  static let schema = "xdg:schema"
  static let genericSchema = "org.freedesktop.Secret.Generic"

  /// A cache of msal-extensions for Python, `LibsecretPersistence`.
  ///
  /// - Parameters:
  ///   - location: The `signal_location`, exactly as the program gives it: the default schema is its hash.
  ///   - schema: The `schema_name`, where the program gives one.
  ///   - attributes: The `attributes`, where the program gives some.
  /// - Returns: The cache.
  public static func msalExtensions(
    location: String, schema: String? = nil, attributes: [String: String] = [:]
  ) -> PeerCache {
    item(
      "msal-extensions", "MSAL for Python", location, schema ?? sha256Hex(location), attributes, label: "",
      .json)
  }

  /// A cache of Microsoft.Identity.Client.Extensions.Msal, .NET's `MsalCacheHelper`.
  ///
  /// - Parameters:
  ///   - location: The path of the cache file.
  ///   - schema: The name of the keyring schema.
  ///   - attributes: The two attributes.
  ///   - label: The label of a new item.
  /// - Returns: The cache.
  public static func dotNet(
    location: String, schema: String, attributes: [String: String], label: String = "MSALCache"
  ) -> PeerCache {
    item("msal-extensions-dotnet", "MSAL.NET", location, schema, attributes, label: label, .base64)
  }

  /// A cache of the keyring accessor of MSAL for Go's extensions.
  ///
  /// - Parameters:
  ///   - location: The path of the file with the timestamp.
  ///   - schema: The accessor's name.
  ///   - attributes: None, one or two.
  ///   - label: The label of a new item.
  /// - Returns: The cache.
  public static func go(
    location: String, schema: String, attributes: [String: String] = [:], label: String = "MSALCache"
  ) -> PeerCache {
    item("msal-extensions-go", "MSAL for Go", location, schema, attributes, label: label, .base64)
  }

  /// A cache of msal-node-extensions, `LibSecretPersistence`.
  ///
  /// - Parameters:
  ///   - location: The path of the cache file.
  ///   - service: The name of the service.
  ///   - account: The name of the account.
  /// - Returns: The cache.
  public static func node(location: String, service: String, account: String) -> PeerCache {
    item(
      "msal-node-extensions", "MSAL for Node", location, genericSchema,
      ["service": service, "account": account], label: "\(service)/\(account)", .json, signalContents: "{}")
  }

  /// A serialized cache in a file, as any MSAL library writes it.
  public static func file(_ path: String) -> PeerCache {
    PeerCache(
      name: "file", users: "any MSAL library", place: .file(path), encoding: .json,
      lockFiles: [path + ".lockfile"])
  }

  private static func item(
    _ name: String, _ users: String, _ location: String, _ schema: String, _ attributes: [String: String],
    label: String, _ encoding: PayloadEncoding, signalContents: String = ""
  ) -> PeerCache {
    PeerCache(
      name: name, users: users,
      place: .item(label: label, attributes: attributes.merging([self.schema: schema]) { $1 }),
      encoding: encoding, signals: [Signal(location.expandingHome, contents: signalContents)])
  }
}

extension String {
  /// The path with `~` at its beginning replaced, as Python's `expanduser` does.
  var expandingHome: String {
    guard hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else { return self }
    return home + dropFirst()
  }
}
