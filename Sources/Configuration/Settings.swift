import GLibSupport
public import IdentityClient
public import Logging
public import TokenCache

/// What the environment and the configuration files say; the command line goes before both.
///
/// The user's file is `llavero/config` in `$XDG_CONFIG_HOME` (`~/.config` unless that is set), in the format of desktop
/// entry files: the line `[llavero]`, then one `name = value` a line. The table of settings has the names. Below it are the files
/// for all users, `llavero/config` in each directory of `$XDG_CONFIG_DIRS` (`/etc/xdg` unless that is set).
///
/// For example:
///
/// ```swift
/// let settings = try Settings(environment: environment)
/// print(settings.clientID ?? "No client ID is set.")
/// ```
public struct Settings: Sendable {
  /// The client ID of the app.
  public var clientID: String?
  /// The URL of the authority.
  public var authority: String?
  /// The tenant's ID or domain.
  public var tenant: String?
  /// What tokens are for.
  public var scopes: [String]?
  /// The account's user name or home account ID.
  public var account: String?
  /// The keychain group.
  public var group: KeychainGroup?
  /// Where the cache is.
  public var store = StoreSettings()
  /// Whether tokens are borrowed, and where.
  public var origin: TokenOrigin?
  /// Whether the identity broker is asked.
  public var broker: BrokerPolicy?
  /// A file of certificates to trust instead of the system's.
  public var caBundle: String?
  /// The URL of the proxy, which may have a password, or `off`.
  public var proxy: String?
  /// The URL of Microsoft Graph.
  public var graphURL: String?
  /// What is logged to standard error: from which level on.
  public var log: Logger.Level?
  /// Names for clients, by client ID in lower case: the lines `CLIENT-ID = name` below `[clients]` in the files.
  public var clientNames: [String: String] = [:]

  /// The unknown settings of the files, if there are any.
  public private(set) var unknown: ConfigurationError?
  private var origins: [String: Origin] = [:]

  /// Sets nothing.
  public init() {}

  /// Reads the settings. White space around a value does not count, nor does an empty value.
  ///
  /// - Throws: ``ConfigurationError`` that names the invalid setting and where it stands.
  public init(environment: [String: String]) throws(ConfigurationError) {
    let files = try ConfigurationFile.all(environment: environment)
    for file in files { clientNames.merge(file.clientNames) { first, _ in first } }
    for setting in Setting.all {
      if let text = setting.variableText(in: environment) {
        origins[setting.name] = Origin(name: setting.variable, rank: 0)
        try read(setting, text, from: setting.variable)
      }
      for file in files {
        guard let text = file[setting] else { continue }
        let origin = Origin(name: file.path, rank: file.rank)
        if origin.isForAllUsers { try setting.checkIsNoSecret(text, in: file.path) }
        guard origins[setting.name] == nil else { continue }
        let place = origin.place(of: setting)
        // Programs have different working directories.
        guard !text.hasPrefix("file:") || text.hasPrefix("file:/") else {
          throw ConfigurationError(invalid: "Invalid \(place): expected an absolute path after \"file:\".")
        }
        origins[setting.name] = origin
        try read(setting, text, from: place)
      }
    }
    // A file's tenant is one of the authority that goes with it, and not of one that goes before.
    if rank(of: .authority) < rank(of: .tenant) { tenant = nil }
    let names = Setting.all.map(\.name)
    let messages = files.compactMap { file in
      let unknown = Set(file.values.keys).subtracting(names).sorted()
      return unknown.isEmpty
        ? nil
        : "\(file.path): unknown \(unknown.count == 1 ? "setting" : "settings") \(unknown.joined(separator: ", "))."
    }
    if !messages.isEmpty {
      unknown = ConfigurationError(
        invalid: messages.joined(separator: " "),
        advice: "The settings are \(names.sorted().joined(separator: ", ")).")
    }
  }

  /// Reads a setting from a place that an error names.
  package mutating func read(
    _ setting: Setting, _ text: String, from place: String
  ) throws(ConfigurationError) {
    do {
      try setting.read(text, &self)
    } catch {
      throw error.reason.map { ConfigurationError(value: $0, of: place) } ?? error
    }
  }

  /// What is set, as text, in the order of the table.
  package var values: [(setting: Setting, text: String)] {
    Setting.all.compactMap { setting in setting.text(self).map { (setting, $0) } }
  }

  /// The user's configuration file; `nil` where the environment names no directory for it.
  public static func path(environment: [String: String]) -> String? {
    let home = environment["HOME"].map { $0 + "/.config" }
    let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (configured ?? home).map { $0 + "/llavero/config" }
  }

  /// Where the value of a setting comes from; `nil` where the environment and the files do not set it.
  package func origin(of setting: Setting) -> Origin? { origins[setting.name] }

  /// Where a setting stands, as an error names it.
  package func place(of setting: Setting) -> String {
    origin(of: setting)?.place(of: setting) ?? setting.name
  }

  /// How weak the place of a setting is; the weakest where it is not set.
  private func rank(of setting: Setting) -> Int { origins[setting.name]?.rank ?? .max }

  /// Where the value of a setting comes from.
  package struct Origin: Sendable {
    /// The variable, or the file's path.
    package let name: String
    /// The environment is 0, and a file what ``ConfigurationFile/rank`` says.
    let rank: Int
    package var isVariable: Bool { rank == 0 }
    /// Whether it is a file for all users.
    package var isForAllUsers: Bool { rank > 1 }

    fileprivate func place(of setting: Setting) -> String {
      isVariable ? name : "\"\(setting.name)\" in \(name)"
    }
  }
}
