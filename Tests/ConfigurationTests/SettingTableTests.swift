import FoundationEssentials
import IdentityClient
import TestSupport

@testable import Configuration

struct SettingTableTests {
  @Test func `The documentation has the table of settings`() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let article = try String(
      contentsOf: package.appending(path: "Documentation/Llavero.docc/Settings.md"), encoding: .utf8)
    let rows = article.split(separator: "\n").filter { $0.hasPrefix("| ") }.map(String.init)
    let expected = Setting.all.map { setting in
      let code = { (text: String?) in text.map { "`\($0)` " } ?? "" }
      let summary = setting.summary.replacing(/--[a-z]+/) { "`\($0.output)`" }
      return "| \(code(setting.option))| \(code(setting.variable))| \(code(setting.name))| \(summary) | "
        + "\(code(setting.standard))|"
    }
    #expect(Array(rows.dropFirst()) == expected, "\(expected.joined(separator: "\n"))")
  }

  @Test func `Each setting has a name, a variable and a line of its own`() {
    #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
    #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
    for setting in Setting.all {
      #expect(setting.summary.count <= 80, "\(setting.summary)")
      #expect(!setting.summary.hasSuffix("."), "\(setting.summary)")
    }
    #expect(Setting.authority.standard == Authority.default.description)
  }

  @Test func `What is read is written as it was`() throws {
    let texts = [
      "store": "file:/srv/cache", "key": "file:/srv/a:b", "etcd-password": "passphrase-fd:4",
      "group": "com.example.mail", "scope": "Mail.Read Files.Read", "from": "unix:/run/loan.sock",
      "broker": "only", "proxy": "http://proxy.example.com:8080", "log": "debug",
    ]
    let environment = Dictionary(
      uniqueKeysWithValues: Setting.all.map { ($0.variable, texts[$0.name] ?? "some \($0.name)") })
    let values = try Settings(environment: environment).values
    #expect(values.map(\.setting.name) == Setting.all.map(\.name))
    for (setting, text) in values { #expect(text == environment[setting.variable]) }
  }

  @Test(.fault("odd setting"), arguments: Setting.all)
  func `A setting takes its default, and neither an empty value nor quotes`(_ setting: Setting) throws {
    if let standard = setting.standard { #expect(try setting.checked(standard) == standard) }
    for text in ["", " \t", "\u{FEFF}", "\"\"", "'keyring'", "\"file:/x", "“auto”"] {
      #expect(throws: ConfigurationError.self) { try setting.checked(text) }
    }
  }

  @Test(arguments: [
    ("LLAVERO_STORE", "papyrus", "expected keyring"), ("LLAVERO_KEY", "hunter2", "expected passphrase"),
    ("LLAVERO_KEY", "passphrase:", "expected passphrase"),
    ("LLAVERO_ETCD_PASSWORD", "hunter2", "expected passphrase"),
    ("LLAVERO_ETCD_PASSWORD", "portal", "NAME or keyring"), ("LLAVERO_GROUP", "mail", "keychain group"),
    ("LLAVERO_BROKER", "perhaps", "expected auto"), ("LLAVERO_FROM", "http://localhost", "IDENTITY_ENDPOINT"),
    ("LLAVERO_CLIENT_ID", "some-id #mine", "a line of its own"),
    ("LLAVERO_CLIENT_ID", "\"some-id\"", "quotes"), ("LLAVERO_TENANT", "contoso.com’", "quotes"),
    ("LLAVERO_TENANT", "contoso\u{200B}.\u{FEFF}com", "U+200B"), ("LLAVERO_CA_BUNDLE", "~/ca.pem", "$HOME"),
    ("LLAVERO_PROXY", "ftp://u:hunter2@proxy", "expected a URL"), ("LLAVERO_LOG", "hunter2", "info or debug"),
  ])
  func `An invalid setting names the variable and what was expected`(
    variable: String, text: String, expected: String
  ) {
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: [variable: text]) }
    let message = error?.message ?? ""
    #expect(message.hasPrefix("Invalid \(variable): ") && message.hasSuffix("."), "\(message)")
    #expect(!message.hasSuffix(".."), "\(message)")
    #expect(message.contains(expected) && !message.contains("hunter2"), "\(message)")
    #expect(error?.name == "invalid_configuration")
  }
}
