import TestSupport

@testable import Configuration

struct SettingsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Reads a configuration file with these lines, and variables.
  private func settings(_ lines: String, _ variables: [String: String] = [:]) throws -> Settings {
    _ = try directory.directory("llavero")
    // Others may be let write one's own.
    _ = try directory.file("llavero/config", "[llavero]\n\(lines)\n", mode: 0o664)
    return try Settings(environment: variables.merging(["XDG_CONFIG_HOME": directory.path]) { $1 })
  }

  @Test func `A variable goes before the file, and an empty one does not count`() throws {
    let lines = "client = file\ntenant = contoso.com\nscope = Mail.Read  Files.Read"
    let both = try settings(lines, ["LLAVERO_CLIENT_ID": "variable", "LLAVERO_TENANT": ""])
    #expect((both.clientID, both.tenant) == ("variable", "contoso.com"))
    #expect(both.scopes == ["Mail.Read", "Files.Read"])
  }

  @Test func `A sign-in's tenant is that of its authority`() throws {
    let file = try settings("authority = https://login.microsoftonline.us/common\ntenant = contoso.com")
    #expect(try file.signInAuthority().description == "https://login.microsoftonline.us/contoso.com")
    #expect(try file.signInAuthority(tenant: "t").description == "https://login.microsoftonline.us/t")
    let other = "https://login.microsoftonline.com/common"
    #expect(try file.signInAuthority(other).description == other)
    #expect(try file.signInAuthority(other, tenant: "t").description == "https://login.microsoftonline.com/t")
    #expect(try settings("").signInAuthority() == .default)
    #expect(try settings("").signInScopes == ["User.Read"])
    #expect(try settings("scope = Mail.Read").signInScopes == ["Mail.Read"])
    var edited = file
    try edited.setClient("abc", tenant: " ")
    #expect((edited.clientID, edited.tenant) == ("abc", "contoso.com"))
    try edited.setClient("abc", tenant: "t")
    #expect(edited.tenant == "t")
  }

  @Test func `White space around a value does not count`() throws {
    let file = try settings("store =  keyring \nclient = abc \t\nbroker = off\r", ["LLAVERO_TENANT": " \t"])
    #expect((file.store.address, file.clientID, file.tenant, file.broker) == (.keyring, "abc", nil, .off))
    let variables = ["LLAVERO_KEY": "file:/key\r\n", "LLAVERO_CLIENT_ID": " abc "]
    #expect(try settings("", variables).store.key == .file("/key"))
    #expect(try settings("", variables).clientID == "abc")
  }

  @Test(.fault("odd setting")) func `A byte order mark does not count`() throws {
    _ = try directory.file("llavero/config", "\u{FEFF}[llavero]\r\nclient = abc\r\n")
    let variables = ["XDG_CONFIG_HOME": directory.path, "LLAVERO_TENANT": "\u{FEFF}contoso.com"]
    let settings = try Settings(environment: variables)
    #expect((settings.clientID, settings.tenant) == ("abc", "contoso.com"))
  }

  @Test(.fault("unreachable config"))
  func `A configuration behind a missing directory or file is an error, a missing one is none`() throws {
    func clientID() throws -> String? {
      try Settings(environment: ["HOME": directory.path, "XDG_CONFIG_HOME": directory.path + "/c"]).clientID
    }
    for target in ["c", "c/llavero", "c/llavero/config"] {
      let path = directory.path + "/" + target
      #expect(try clientID() == nil)
      for make in [
        { _ = try directory.file(target, "") }, { #expect(symlink("/proc/nonexistent/x/y", path) == 0) },
      ]
      where !target.hasSuffix("config") || access(path, F_OK) != 0 {
        try make()
        if target.hasSuffix("config"), access(path, F_OK) == 0 {
          #expect(try clientID() == nil)
        } else {
          let error = #expect(throws: ConfigurationError.self) { try clientID() }
          // No home directory excuses it.
          #expect(throws: ConfigurationError.self) {
            try Settings(environment: ["XDG_CONFIG_HOME": directory.path + "/c"])
          }
          #expect(error?.message.contains("c/llavero/config cannot be reached: ") == true)
          #expect(error?.advice?.contains("namei -l ") == true)
        }
        unlink(path)
      }
      _ =
        try target.hasSuffix("config")
        ? directory.file(target, "[llavero]\nclient = abc") : directory.directory(target)
    }
    #expect(try clientID() == "abc")
    let path = directory.path + "/c/llavero/config"
    unlink(path)
    #expect(symlink(directory.path + "/not made yet", path) == 0)
    #expect(try clientID() == nil)
  }

  @Test(arguments: ["key", "etcd-password", "store"])
  func `A path is absolute in the file, and never begins with a tilde`(_ name: String) throws {
    for path in ["cache.key", "~/cache.key"] {
      let error = #expect(throws: ConfigurationError.self) { try settings("\(name) = file:\(path)") }
      #expect(error?.message.hasSuffix("expected an absolute path after \"file:\".") == true)
    }
    let variable = "LLAVERO_" + name.uppercased().replacing("-", with: "_")
    let error = #expect(throws: ConfigurationError.self) { try settings("", [variable: "file:~/cache.key"]) }
    #expect(error?.message.contains("use $HOME") == true)
  }

  @Test func `The file's tenant is one of the file's authority`() throws {
    let authority = ["LLAVERO_AUTHORITY": "https://login.microsoftonline.com/fabrikam.com"]
    #expect(try settings("tenant = contoso.com", authority).tenant == nil)
    #expect(
      try settings("tenant = contoso.com", authority.merging(["LLAVERO_TENANT": "t"]) { $1 }).tenant == "t")
    let file = "authority = https://login.microsoftonline.com/common\ntenant = contoso.com"
    #expect(try settings(file).tenant == "contoso.com")
    #expect(try settings(file, ["LLAVERO_TENANT": "t"]).tenant == "t")
  }

  @Test func `A directory is absolute in the file, and may be relative in a variable`() throws {
    let error = #expect(throws: ConfigurationError.self) { try settings("store = file:cache") }
    #expect(error?.message.contains("\"store\" in \(directory.path)/llavero/config") == true)
    #expect(try settings("store = file:/srv/cache").store.address == .file(directory: "/srv/cache"))
    let variable = try settings("", ["LLAVERO_STORE": "file:cache"]).store.address
    #expect(variable == .file(directory: FileManager.default.currentDirectoryPath + "/cache"))
  }

  /// Makes a file for all users in a directory of this name, and returns its path.
  private func forAll(_ name: String, _ text: String, mode: mode_t = 0o644) throws -> String {
    try directory.file("\(name)/llavero/config", text, mode: mode)
  }

  @Test func `The user's file goes before those for all users, and an earlier directory before a later one`()
    throws
  {
    let first = try forAll(
      "a", "[llavero]\ntenant = a.com\nscope = A\nbroker =\n[clients]\nabc = Theirs\nDEF = Other")
    let last = try forAll(
      "b", "[llavero]\ntenant = b.com\nbroker = off\nproxy = http://proxy:1\nstore = etcd+https://b/b")
    #expect(symlink("/proc/nonexistent/x", directory.path + "/dangling") == 0)
    let places = ["a", "dangling", "missing", "b"].map { "\(directory.path)/\($0)" } + ["relative"]
    let variables = ["XDG_CONFIG_DIRS": places.joined(separator: ":"), "LLAVERO_ACCOUNT": "alice"]
    let found = try settings("scope = C\n[clients]\nABC = Mine\nx =", variables)
    #expect(found.clientNames == ["abc": "Mine", "def": "Other"])
    #expect((found.tenant, found.scopes, found.proxy) == ("a.com", ["C"], "http://proxy:1"))
    #expect(found.store.address?.description == "etcd+https://b/b")
    let origins = found.values.map { "\($0.setting.name) \(found.origin(of: $0.setting)?.name ?? "")" }
    #expect(
      origins == [
        "store \(last)", "tenant \(first)", "scope \(directory.path)/llavero/config",
        "account LLAVERO_ACCOUNT", "broker \(last)", "proxy \(last)",
      ])
    #expect(try settings("authority = https://login.microsoftonline.us/common", variables).tenant == nil)
  }

  @Test(
    .fault("system config"),
    arguments: [
      "key = file:/key", "key = hunter2", "etcd-password = file:/key", "proxy = http://me:hunter2@proxy",
      "proxy = me:hunter2@proxy:1",
    ])
  func `A secret in a file for all users is an error`(_ line: String) throws {
    let path = try forAll("all", "[llavero]\n\(line)\n")
    let own = "key = file:/own\netcd-password = file:/own\nproxy = off"
    let variables = [
      "LLAVERO_KEY": "file:/x", "LLAVERO_ETCD_PASSWORD": "file:/x", "LLAVERO_PROXY": "off",
    ]
    // Also where the user sets the same.
    for (own, variables) in [("", [:]), (own, [:]), (own, variables)] as [(String, [String: String])] {
      let error = #expect(throws: ConfigurationError.self) {
        try settings(own, variables.merging(["XDG_CONFIG_DIRS": directory.path + "/all"]) { $1 })
      }
      #expect(
        error?.message.hasSuffix("\" in \(path): a file for all users has no key, password or proxy user.")
          == true)
      #expect(error?.errorDescription?.contains("hunter2") == false)
    }
    if line.hasPrefix("proxy") {
      #expect(try settings(line).values.map(\.text).joined().contains("proxy"))
      #expect(try settings(line).values.map(\.text).joined().contains("hunter2") == false)
    }
  }

  @Test(
    .fault("system config"),
    arguments: [
      ("[llavero]\nclient = x", 0o664, "users other than its owner"),
      ("[llavero]", 0o646, "users other than"),
      ("client = x", 0o644, "is invalid"), (nil, 0, "is not a regular file"),
    ] as [(String?, mode_t, String)])
  func `A file for all users that is malformed or open to other writers is refused`(
    _ text: String?, _ mode: mode_t, _ words: String
  ) throws {
    let path = try text.map { try forAll("all", $0, mode: mode) } ?? directory.directory("all/llavero/config")
    let error = #expect(throws: ConfigurationError.self) {
      try settings("client = own", ["XDG_CONFIG_DIRS": directory.path + "/all"])
    }
    #expect(error?.message.contains(path) == true && error?.message.contains(words) == true)
  }

  @Test func `Unknown settings are named, with those that exist`() throws {
    let unknown = try settings("gruop = com.example.mail\nclinet = x").unknown
    #expect(unknown?.message.hasSuffix("unknown settings clinet, gruop.") == true)
    #expect(unknown?.advice?.contains("account, authority, broker") == true)
    #expect(try settings("group = com.example.mail").unknown == nil)
  }
}
