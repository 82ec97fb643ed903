import FoundationEssentials
import GLibSupport
package import IdentityClient
import Logging
import TokenCache

/// One row of the table of settings: what an option, a variable or the configuration tells tool and window.
package struct Setting: Sendable {
  /// Its name in the configuration file.
  package let name: String
  /// The environment variable that goes before the file.
  package let variable: String
  /// The option that goes before both, if it has one.
  package let option: String?
  /// What it is, in a line without a full stop.
  package let summary: String
  /// What applies where it is not set.
  package let standard: String?
  /// What the help of its option says. The parser asks for it again and again.
  package let help: String
  /// Whether a text has a secret, or says where one is.
  private let isSecret: @Sendable (String) -> Bool
  /// The setting as text; `nil` where it is not set.
  package let text: @Sendable (Settings) -> String?
  /// Sets it to the value of a text.
  package let read: @Sendable (String, inout Settings) throws(ConfigurationError) -> Void

  /// Calls its second argument with where a value stands in the settings. Not a key path: to make those of the table would
  /// take most of the time in which it is made.
  private typealias Place<Value> = @Sendable (inout Settings, (inout Value?) -> Void) -> Void

  private init<Value>(
    _ name: String, _ place: @escaping Place<Value>, _ form: Form<Value>,
    _ summary: String, standard: String? = nil, variable: String? = nil, hasOption: Bool = true
  ) {
    self.name = name
    self.summary = summary
    self.standard = standard
    help = summary + (standard.map { " (default: \($0))" } ?? "") + "."
    self.variable = variable ?? "LLAVERO_" + Self.variableForm(of: name)
    option = hasOption ? "--" + name : nil
    isSecret = form.isSecret
    text = { settings in
      var (settings, text) = (settings, String?.none)
      place(&settings) { text = $0.map(form.text) }
      return text
    }
    read = { (text, settings) throws(ConfigurationError) in
      let value = try form.parse(Self.bare(text))
      place(&settings) { $0 = value }
    }
  }

  /// A value without white space around it, and without the byte order mark of the file that it was taken from.
  private static func bare(_ text: String) throws(ConfigurationError) -> String {
    var text = text.trimmed
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    guard let first = text.first, let last = text.last else {
      throw ConfigurationError(value: "expected a value")
    }
    // Those of a shell or of a document: docker's --env-file passes them on.
    let quotes = "\"'“”„‘’"
    guard !quotes.contains(first), !quotes.contains(last) else {
      throw ConfigurationError(value: "quotes are part of a value here, leave them out")
    }
    return text
  }

  /// A value of the command line, where an empty one is a mistake: in the environment and the configuration it counts as none.
  ///
  /// - Throws: ``ConfigurationError``.
  package func checked(_ text: String) throws(ConfigurationError) -> String {
    var settings = Settings()
    try read(text, &settings)
    return self.text(settings) ?? text
  }
}

extension Setting {
  /// Throws for a secret in a file for all users.
  func checkIsNoSecret(_ text: String, in path: String) throws(ConfigurationError) {
    guard isSecret(text) else { return }
    throw ConfigurationError(
      invalid: "Invalid \"\(name)\" in \(path): a file for all users has no key, password or proxy user.",
      advice: "Remove it there. Each user can set it in ~/.config/llavero/config, or in \(variable).")
  }

  /// What its variable says; `nil` where that is not set, or empty but for white space.
  package func variableText(in environment: [String: String]) -> String? {
    (environment[variable]?.trimmed).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// By bytes: the generic functions of strings would take most of the time in which the table is made, at each start.
  private static func variableForm(of name: String) -> String {
    let letters = name.uppercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    return String(decoding: letters, as: UTF8.self)
  }

  package static let store = Setting(
    "store", { $1(&$0.store.address) }, Form(text: \.description, parse: StoreAddress.init(_:)),
    "Store: \(StoreAddress.forms)", standard: "keyring")
  package static let key = Setting(
    "key", { $1(&$0.store.key) }, .key, "Key: \(KeyChoice.forms)")
  package static let etcdUser = Setting(
    "etcd-user", { $1(&$0.store.etcdUser) }, .plain, "etcd user name")
  package static let etcdPassword = Setting(
    "etcd-password", { $1(&$0.store.etcdPassword) }, .password,
    "Password of the etcd user, in the forms of --key but portal")
  package static let etcdCA = Setting(
    "etcd-ca", { $1(&$0.store.etcdCA) }, .path, "PEM file of certificates to trust for etcd alone")
  package static let collection = Setting(
    "collection", { $1(&$0.store.collection) }, .label, "Label or name of the keyring's collection",
    standard: "default")
  package static let client = Setting(
    "client", { $1(&$0.clientID) }, .plain, "Client ID of the app", variable: "LLAVERO_CLIENT_ID")
  package static let authority = Setting(
    "authority", { $1(&$0.authority) }, .plain, "URL of the authority that signs users in",
    standard: Authority.default.description)
  package static let tenant = Setting(
    "tenant", { $1(&$0.tenant) }, .plain, "Tenant ID or domain")
  package static let group = Setting(
    "group", { $1(&$0.group) }, .group, "Keychain group", standard: KeychainGroup.default.name)
  package static let scope = Setting(
    "scope", { $1(&$0.scopes) }, .scopes, "Scopes of the token, separated by spaces", standard: "User.Read")
  package static let account = Setting("account", { $1(&$0.account) }, .plain, "User name or home account ID")
  package static let origin = Setting(
    "from", { $1(&$0.origin) }, Form(text: \.description, parse: TokenOrigin.init(_:)),
    "Borrow tokens from a lender at unix:PATH; off: use the store")
  package static let broker = Setting(
    "broker", { $1(&$0.broker) }, Form(text: \.rawValue, parse: BrokerPolicy.init(argument:)),
    "Use the identity broker: auto, off or only", standard: "auto")
  package static let caBundle = Setting(
    "ca-bundle", { $1(&$0.caBundle) }, .path, "PEM file of certificates to trust instead of the system's",
    hasOption: false)
  package static let proxy = Setting(
    "proxy", { $1(&$0.proxy) }, .proxy, "Proxy, such as http://proxy.example.com:8080; off: none",
    hasOption: false)
  package static let graphURL = Setting(
    "graph-url", { $1(&$0.graphURL) }, .plain,
    "URL of Microsoft Graph", hasOption: false)

  package static let log = Setting(
    "log", { $1(&$0.log) }, .log, "Log to standard error: info or debug", hasOption: false)

  /// The table.
  package static let all = [
    store, key, etcdUser, etcdPassword, etcdCA, collection, client, authority, tenant,
    group, scope, account, origin, broker, caBundle, proxy, graphURL, log,
  ]
}

/// How a value is written.
private struct Form<Value>: Sendable {
  let text: @Sendable (Value) -> String
  let parse: @Sendable (String) throws(ConfigurationError) -> Value
  var isSecret: @Sendable (String) -> Bool = { _ in false }
}

extension Form<String> {
  /// A text as it stands.
  static let label = Form(text: \.self) { $0 }

  static let path = Form(text: \.self, parse: expandedPath)

  private static func expandedPath(_ text: String) throws(ConfigurationError) -> String {
    try ConfigurationError.checkExpanded(text)
    return text
  }

  /// A text that is sent to a server, and so would be what looks like a comment behind it.
  static let plain = Form(text: \.self, parse: plainText)

  fileprivate static func plainText(_ text: String) throws(ConfigurationError) -> String {
    let words = text.split(whereSeparator: \.isWhitespace)
    if words.dropFirst().contains(where: { $0.hasPrefix("#") }) {
      throw ConfigurationError(value: "a comment needs a line of its own")
    }
    if let scalar = text.unicodeScalars.first(where: \.isInvisible) {
      throw ConfigurationError(
        value: "it has the invisible character U+\(String(scalar.value, radix: 16, uppercase: true))")
    }
    return text
  }
}

extension Unicode.Scalar {
  /// Whether it shows nothing, such as one that comes along when a value is copied from a page.
  fileprivate var isInvisible: Bool { [.control, .format].contains(properties.generalCategory) }
}

extension Form<String> {
  /// A proxy's URL. As text it has no user and no password.
  static let proxy = Form(
    text: { text in
      guard var url = ProxyURL(text), url.user != nil else { return text }
      (url.user, url.password) = (nil, nil)
      return url.text
    },
    parse: proxyText, isSecret: { ProxyURL($0)?.user != nil })

  private static func proxyText(_ text: String) throws(ConfigurationError) -> String {
    guard text == "off" || ProxyURL(text) != nil else {
      throw ConfigurationError(value: "expected a URL such as http://proxy.example.com:8080, or off")
    }
    return text
  }
}

extension Form<[String]> {
  static let scopes = Form(text: { $0.joined(separator: " ") }, parse: scopeList)

  private static func scopeList(_ text: String) throws(ConfigurationError) -> [String] {
    ScopeSet.list(try Form<String>.plainText(text))
  }
}

extension Form<Logger.Level> {
  static let log = Form(text: \.rawValue, parse: level)

  private static func level(_ text: String) throws(ConfigurationError) -> Logger.Level {
    guard let level = Logger.Level(rawValue: text), [.info, .debug].contains(level) else {
      throw ConfigurationError(value: "expected info or debug")
    }
    return level
  }
}

extension Form<KeyChoice> {
  static let key = Form(text: \.argument, parse: KeyChoice.init(_:), isSecret: { _ in true })
  static let password = Form(text: \.argument, parse: KeyChoice.init(password:), isSecret: { _ in true })
}

extension Form<KeychainGroup> {
  static let group = Form(text: \.name, parse: keychainGroup)

  private static func keychainGroup(_ text: String) throws(ConfigurationError) -> KeychainGroup {
    do {
      return try KeychainGroup(text)
    } catch {
      throw ConfigurationError(value: error.description)
    }
  }
}

extension BrokerPolicy {
  package init(argument: String) throws(ConfigurationError) {
    guard let policy = Self(rawValue: argument) else {
      throw ConfigurationError(value: "expected auto, off or only")
    }
    self = policy
  }
}
