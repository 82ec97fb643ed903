import FoundationEssentials
import GLibSupport

/// A token cache of other programs: its location, its encoding, and the lock of its users.
///
/// ``PeerRegistry`` has the known ones. A program's own cache is made with the function of its library:
///
/// ```swift
/// let cache = PeerCache.msalExtensions(
///   location: "/home/alice/.my_app/token_cache")
/// ```
public struct PeerCache: Sendable, Hashable {
  /// The location of a cache.
  public enum Place: Sendable, Hashable {
    /// The item of the default collection with exactly these attributes, including the schema. A new item gets the label.
    case item(label: String, attributes: [String: String])
    /// A plaintext file.
    case file(String)
  }

  /// A file by whose modification time other processes see a change of the cache.
  public struct Signal: Sendable, Hashable {
    public let path: String
    /// The contents of a new file.
    public let contents: String

    public init(_ path: String, contents: String = "") {
      self.path = path
      self.contents = contents
    }
  }

  /// The name in the command line.
  public let name: String
  /// The programs that use it, as text.
  public let users: String
  public let place: Place
  /// The encoding of a new cache; an existing one keeps its own.
  public let encoding: PayloadEncoding
  /// The files to touch after each change. Without them MSAL for Python assumes no item and overwrites it.
  public let signals: [Signal]
  /// The files that the users lock while they read or write. Llavero locks all of them.
  public let lockFiles: [String]
  /// What its users do after their plaintext file was removed.
  public let afterRemoval: String?

  /// - Parameters:
  ///   - name: The name in the command line.
  ///   - users: The programs that use it.
  ///   - place: The location.
  ///   - encoding: The encoding of a new cache.
  ///   - signals: The files to touch after each change.
  ///   - lockFiles: The files to lock (default: `<signal>.lockfile` of each signal).
  ///   - afterRemoval: What the users do after their plaintext file was removed.
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
    // Sorted, so that two programs that lock several cannot deadlock.
    self.lockFiles = Set(lockFiles ?? signals.map { $0.path + ".lockfile" }).sorted()
  }

  /// The file of a plaintext cache.
  public var file: String? { if case .file(let path) = place { path } else { nil } }

  /// The schema of a keyring item.
  package var schema: String? {
    if case .item(_, let attributes) = place { attributes[Self.schema] } else { nil }
  }

  /// Whether the file is also the signal of a keyring item, and so must stay.
  public var isSignalOfAnItem: Bool { signals.contains { $0.path == file } }

  /// How to remove a file that cannot be moved, and what its programs do then; `nil` for an item.
  package var removalAdvice: String? {
    guard let file = file.map(shellQuoted) else { return nil }
    let command = isSignalOfAnItem ? "shred \(file) && truncate -s 0 \(file)" : "shred -u \(file)"
    let reason = "If it is not needed, or its own program cannot read it either, overwrite and remove it. "
    return reason + (afterRemoval.map { $0 + " " } ?? "") + "Run: " + command
  }
}

extension PeerCache {
  static let schema = "xdg:schema"
  static let genericSchema = "org.freedesktop.Secret.Generic"

  /// A cache of msal-extensions for Python, `LibsecretPersistence`.
  ///
  /// - Parameters:
  ///   - location: The `signal_location`, exactly as the program gives it: the default schema is its hash.
  ///   - schema: The `schema_name`, if the program gives one.
  ///   - attributes: The `attributes`, if the program gives any.
  /// - Returns: The cache.
  public static func msalExtensions(
    location: String, schema: String? = nil, attributes: [String: String] = [:]
  ) -> PeerCache {
    item(
      "msal-extensions", "MSAL for Python", [location], schema ?? sha256Hex(location),
      attributes, label: "", .json)
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
    item(
      "msal-extensions-dotnet", "MSAL.NET", [location], schema, attributes, label: label,
      .base64)
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
    item(
      "msal-extensions-go", "MSAL for Go", [location], schema, attributes, label: label,
      .base64)
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
      "msal-node-extensions", "MSAL for Node", [location], genericSchema,
      ["service": service, "account": account], label: "\(service)/\(account)", .json, signalContents: "{}")
  }

  /// A serialized cache in a file, as any MSAL library writes it.
  public static func file(_ path: String) -> PeerCache {
    PeerCache(
      name: "file", users: "any MSAL library", place: .file(path), encoding: .json,
      lockFiles: [path + ".lockfile"])
  }

  /// A cache in an item, whose users see its changes by the time of files.
  static func item(
    _ name: String, _ users: String, _ signals: [String], _ schema: String, _ attributes: [String: String],
    label: String, _ encoding: PayloadEncoding, signalContents: String = "", lockFiles: [String]? = nil
  ) -> PeerCache {
    PeerCache(
      name: name, users: users,
      place: .item(label: label, attributes: attributes.merging([self.schema: schema]) { $1 }),
      encoding: encoding, signals: signals.map { Signal($0.expandingHome, contents: signalContents) },
      lockFiles: lockFiles)
  }
}

extension String {
  /// The path with a leading `~` replaced, as Python's `expanduser` does.
  var expandingHome: String {
    guard hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else { return self }
    return home + dropFirst()
  }
}
