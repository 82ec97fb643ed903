import GLibSupport
import Glibc
public import IdentityClient
public import TokenCache

/// What the environment and the configuration file say; the command line goes before both.
///
/// The file is `llavero/config` in `$XDG_CONFIG_HOME` (`~/.config` unless that is set), in the format of desktop
/// entry files: the line `[llavero]`, then one `name = value` a line. The table of settings has the names.
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
  /// The URL of Microsoft Graph.
  public var graphURL: String?

  /// The unknown settings of the file, if there are any.
  public private(set) var unknown: ConfigurationError?

  /// Sets nothing.
  public init() {}

  /// Reads the settings. White space around a value does not count, nor does an empty value.
  ///
  /// - Throws: ``ConfigurationError`` that names the invalid setting and where it stands.
  public init(environment: [String: String]) throws(ConfigurationError) {
    let path = Self.path(environment: environment) ?? ""
    var values = try path.isEmpty ? [:] : Self.values(in: path, home: environment["HOME"])
    let written = values[Setting.store.name]?.trimmed
    func variable(_ setting: Setting) -> String? { setting.variableText(in: environment) }
    for setting in Setting.all {
      let value = (values.removeValue(forKey: setting.name) ?? "").trimmed
      if let text = variable(setting) {
        try read(setting, text, from: setting.variable)
      } else if !value.isEmpty {
        let place = "\"\(setting.name)\" in \(path)"
        // Programs have different working directories.
        guard !value.hasPrefix("file:") || value.hasPrefix("file:/") else {
          throw Self.invalid("Invalid \(place): expected an absolute path after \"file:\".")
        }
        try read(setting, value, from: place)
      }
    }
    // The file's tenant is one of the file's authority.
    if variable(.authority) != nil, variable(.tenant) == nil { tenant = nil }
    try settleCluster(variable, addressInFile: written)
    if !values.isEmpty {
      unknown = Self.invalid(
        "\(path): unknown \(values.count == 1 ? "setting" : "settings") \(values.keys.sorted().joined(separator: ", ")).",
        advice: "The settings are \(Setting.all.map(\.name).sorted().joined(separator: ", ")).")
    }
  }

  /// Completes the address of a cluster: endpoints and prefix of the environment go before an address in the file, and
  /// an address goes before those of its own place or a weaker one.
  private mutating func settleCluster(
    _ variable: (Setting) -> String?, addressInFile: String?
  ) throws(ConfigurationError) {
    // A variable that says "etcd" alone is about the cluster of the file.
    if store.address == .etcd(nil), let file = addressInFile.flatMap({ try? StoreAddress($0) }),
      file.kind == .etcd
    {
      store.address = file
    }
    guard case .etcd(_?)? = store.address else { return }
    let isInFile = [nil, StoreAddress.etcd(nil).description].contains(variable(.store))
    store.endpoints = isInFile ? variable(.endpoints) : nil
    store.prefix = isInFile ? variable(.prefix) : nil
    let stronger = [Setting.endpoints, .prefix].filter { isInFile && variable($0) != nil }
    guard !stronger.isEmpty else { return }
    do throws(InvalidValue) {
      store.address = .etcd(
        try StoreAddress.Cluster(members: store.chosenEndpoints, prefix: store.chosenPrefix))
      (store.endpoints, store.prefix) = (nil, nil)
    } catch {
      throw Self.invalid("Invalid \(stronger.map(\.variable).joined(separator: " or ")): \(error).")
    }
  }

  /// Reads a setting from a place that an error names.
  package mutating func read(
    _ setting: Setting, _ text: String, from place: String
  ) throws(ConfigurationError) {
    do throws(InvalidValue) {
      try setting.read(text, &self)
    } catch {
      throw Self.invalid("Invalid \(place): \(error).")
    }
  }

  /// What is set, as text, in the order of the table.
  package var values: [(setting: Setting, text: String)] {
    Setting.all.compactMap { setting in setting.text(self).map { (setting, $0) } }
  }

  /// The configuration file; `nil` where the environment names no directory for it.
  public static func path(environment: [String: String]) -> String? {
    let home = environment["HOME"].map { $0 + "/.config" }
    let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (configured ?? home).map { $0 + "/llavero/config" }
  }

  private static func values(
    in path: String, home: String?
  ) throws(ConfigurationError) -> [String: String] {
    if unsafe access(path, F_OK) != 0 {
      let code = errno
      if code == ENOENT, !leadsNowhere(path) { return [:] }
      // Without a home directory, or with one that this user may not enter, there is no configuration either.
      let hasNoHome = home.map { unsafe access($0 + "/.", X_OK) != 0 } ?? false
      if hasNoHome, [ENOENT, ENOTDIR, EACCES].contains(code) { return [:] }
      throw invalid(
        "\(path) cannot be reached: \(systemReason(code)).",
        advice: "Show its directories, their owners and modes: namei -l \(shellQuoted(path))")
    }
    do {
      return try readFile(path, limit: 1 << 20).map { try KeyFile($0)["llavero"] } ?? [:]
    } catch is GLibError {
      // GLib's text calls it a key file, which is another thing here, and may quote a secret.
      throw invalid(
        "\(path) is invalid.",
        advice: "[llavero] stands above the settings, each of which is a line such as client = ID.")
    } catch {
      throw invalid("The configuration cannot be read: \(error)")
    }
  }

  /// Whether the way to a missing file has a link to a directory that does not exist, such as one that is not mounted.
  private static func leadsNowhere(_ path: String) -> Bool {
    var place = path
    while unsafe access(place, F_OK) != 0, place.count > 1 {
      let target = linkTarget(place)
      guard target == place else {
        // The file itself may not be made yet.
        return unsafe access(place == path ? parentDirectory(of: target) : place, F_OK) != 0
      }
      place = parentDirectory(of: place)
    }
    return false
  }

  private static func invalid(_ message: String, advice: String? = nil) -> ConfigurationError {
    ConfigurationError("invalid_configuration", message, advice: advice)
  }
}
