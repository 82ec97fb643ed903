import GLibSupport
import Glibc
import IdentityClient
import Synchronization
import TokenCache

/// What the environment and the configuration file say; the command line goes before both.
///
/// The file is `llavero/config` in `$XDG_CONFIG_HOME` (`~/.config` unless that is set), in the format of desktop
/// entry files: the line `[llavero]`, then one `name = value` a line.
struct Settings: Sendable {
  var authority: String?
  var clientID: String?
  var tenant: String?
  var scopes: [String]
  var account: String?
  var group: KeychainGroup?
  var store: StoreKind?
  /// Whether tokens are borrowed, and where.
  var origin: TokenOrigin?
  /// Where the key of the store in files or in etcd comes from.
  var key: KeyChoice?
  /// The addresses of etcd's members, with commas in between.
  var endpoints: String?
  /// What the names of the store's values in etcd begin with.
  var prefix: String?
  var etcdUser: String?
  /// Where the password of etcd's user comes from.
  var etcdPassword: KeyChoice?
  var collection: String?
  /// A file with the certificates to trust in place of the system's.
  var caBundle: String?
  var graphURL: String?
  /// Whether the identity broker is asked.
  var broker: BrokerPolicy?

  /// The settings of the file that are not known, in words.
  let unknown: Failure.Message?

  private static let passesOverUnknown = Atomic(false)

  /// Keeps ``current`` from ending the process over settings that are not known: for the commands that mend a configuration.
  static func passOverUnknown() { passesOverUnknown.store(true, ordering: .sequentiallyConsistent) }

  /// The settings of this process. An invalid configuration ends it.
  static let current: Settings = {
    do throws(Failure.Message) {
      let settings = try Settings(environment: processEnvironment())
      if let unknown = settings.unknown, !passesOverUnknown.load(ordering: .sequentiallyConsistent) {
        throw unknown
      }
      return settings
    } catch {
      Failure.exit(with: error)
    }
  }()

  /// - Throws: `Failure.Message` of code `usage` that names the invalid setting and its origin.
  init(environment: [String: String]) throws(Failure.Message) {
    let source = try SettingSource(environment: environment)
    unknown = source.unknown
    authority = try source.text("authority")
    clientID = try source.text("client")
    tenant = try source.text("tenant")
    scopes = (try source.text("scope") ?? "").split(separator: " ").map(String.init)
    account = try source.text("account")
    group = try source["group"].map { (setting) throws(Failure.Message) in
      do throws(CacheError) {
        return try KeychainGroup(setting.text)
      } catch {
        throw setting.refused(error.message)
      }
    }
    store = try source.value("store", StoreKind.init(rawValue:)) { _ in
      "It should be \(StoreKind.allCases.map(\.rawValue).joined(separator: " or "))."
    }
    origin = try source.value("from", TokenOrigin.init, TokenOrigin.refusal)
    // Not quoted: the value may be the key itself, put there by mistake.
    let keyRefusal = { (_: String) in "It should be \(KeyChoice.forms)." }
    key = try source.value("key", KeyChoice.init(argument:), keyRefusal)
    endpoints = try source.text("endpoints")
    prefix = try source.text("prefix")
    etcdUser = try source.text("etcd-user")
    etcdPassword = try source.value("etcd-password", KeyChoice.init(argument:), keyRefusal)
    collection = source["collection"]?.text
    caBundle = source["ca-bundle"]?.text
    broker = try source.value("broker", BrokerPolicy.init(rawValue:)) { _ in BrokerOptions.refusal }
    graphURL = try source.text("graph-url")
  }
}

extension Settings {
  /// The configuration file; `nil` where the environment names no place for one.
  static func path(environment: [String: String]) -> String? {
    let home = environment["HOME"].map { $0 + "/.config" }
    let configured = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (configured ?? home).map { $0 + "/llavero/config" }
  }

  /// The variable that goes before a setting of the file.
  static func variable(of name: String) -> String {
    switch name {
    case "client": "LLAVERO_CLIENT_ID"
    default: "LLAVERO_" + name.replacing("-", with: "_").uppercased()
    }
  }
}

/// Finds settings in the environment, then in the configuration file.
private struct SettingSource {
  private static let names: Set<String> = [
    "account", "authority", "broker", "ca-bundle", "client", "collection", "endpoints", "etcd-password",
    "etcd-user", "from",
    "graph-url", "group", "key", "prefix", "scope", "store", "tenant",
  ]

  private let environment: [String: String]
  private let values: [String: String]
  private let path: String

  /// A setting that was found, and where.
  struct Setting {
    let text: String
    let place: String

    func refused(_ reason: String) -> Failure.Message {
      SettingSource.invalid("\(place) makes no sense: \(reason)")
    }
  }

  init(environment: [String: String]) throws(Failure.Message) {
    self.environment = environment
    path = Settings.path(environment: environment) ?? ""
    values = try path.isEmpty ? [:] : Self.settings(in: path)
  }

  var unknown: Failure.Message? {
    let names = Set(values.keys).subtracting(Self.names).sorted()
    guard !names.isEmpty else { return nil }
    return Self.invalid(
      "\(path): unknown \(names.count == 1 ? "setting" : "settings") \(names.joined(separator: ", ")).",
      advice: "The settings are \(Self.names.sorted().joined(separator: ", ")).")
  }

  private static func settings(in path: String) throws(Failure.Message) -> [String: String] {
    // Without a home directory, or with an unreadable one, there is no configuration either.
    if unsafe access(path, F_OK) != 0, [ENOENT, ENOTDIR, EACCES].contains(errno) { return [:] }
    let contents: [UInt8]?
    do throws(PrivateFileError) {
      contents = try readFile(path, limit: 1 << 20)
    } catch {
      throw invalid("The configuration cannot be read: \(error)")
    }
    do throws(GLibError) {
      return try contents.map { contents throws(GLibError) in try KeyFile(contents)["llavero"] } ?? [:]
    } catch {
      throw invalid("\(path) cannot be read: \(error.message)")
    }
  }

  /// A setting by its name in the file. An empty one counts as none.
  subscript(name: String) -> Setting? {
    let variable = Settings.variable(of: name)
    if let text = environment[variable], !text.isEmpty { return Setting(text: text, place: variable) }
    if let text = values[name], !text.isEmpty {
      return Setting(text: text, place: "\"\(name)\" in \(path)")
    }
    return nil
  }

  /// A setting that is taken as it stands. What looks like a comment behind it would go to a server.
  func text(_ name: String) throws(Failure.Message) -> String? {
    guard let setting = self[name] else { return nil }
    let words = setting.text.split(whereSeparator: \.isWhitespace)
    guard !words.dropFirst().contains(where: { $0.hasPrefix("#") }) else {
      throw setting.refused("A comment needs a line of its own.")
    }
    return setting.text
  }

  /// A setting of a kind; `refusal` says what is wrong with an invalid text.
  func value<Value>(
    _ name: String, _ parse: (String) -> Value?, _ refusal: (String) -> String
  ) throws(Failure.Message) -> Value? {
    guard let setting = self[name] else { return nil }
    guard let value = parse(setting.text) else { throw setting.refused(refusal(setting.text)) }
    return value
  }

  private static func invalid(_ message: String, advice: String? = nil) -> Failure.Message {
    Failure.Message(code: .usage, name: "invalid_configuration", message: message, advice: advice)
  }
}
