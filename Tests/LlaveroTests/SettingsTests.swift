import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct SettingsTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  /// Asks with this configuration file; `group` is an environment variable and no option.
  private func list(
    _ configuration: String?, variable: String? = nil, _ arguments: String...
  ) throws -> Child.Result {
    if let configuration { try tool.configure(configuration) }
    return try tool.run(
      ["list", "--json"] + arguments,
      with: ["XDG_CONFIG_HOME": tool.files.path, "LLAVERO_GROUP": variable])
  }

  private func group(_ result: Child.Result) throws -> String? {
    #expect(result.status == 0, "\(result.standardError)")
    return try result.json["group"]?.stringValue
  }

  @Test func `The command line goes before the environment, and that before the file`() throws {
    let file = "# Ours\n[llavero]\ngroup = com.example.file\n"
    #expect(try group(list(nil)) == KeychainGroup.default.name)
    #expect(try group(list(file)) == "com.example.file")
    #expect(try group(list(file, variable: "com.example.variable")) == "com.example.variable")
    #expect(
      try group(list(file, variable: "com.example.variable", "--group", "com.example.option"))
        == "com.example.option")
  }

  @Test func `An empty setting counts as not set`() throws {
    #expect(try group(list("[llavero]\ngroup =\n", variable: "")) == KeychainGroup.default.name)
  }

  @Test(.fault("odd setting"))
  func `The default is a value, and an empty one is wrong usage, before anything is stored`() throws {
    try tool.run(["list", "--collection", "default"]).exits(0)
    for option in ["collection", "client", "account", "tenant", "authority", "scope", "etcd-user", "etcd-ca"]
    {
      try tool.run(["token", "--\(option)", ""]).exits(2, printing: "", saying: "expected a value")
    }
    for option in ["--to-collection", "--to-etcd-user"] {
      try tool.run(["export", "keyring", option, ""]).exits(2, printing: "")
    }
    try tool("import", "-", "--collection", "", input: Sample.cache).exits(2, printing: "")
    try tool.run(["clear", "--account", "", "--yes"]).exits(2, printing: "")
  }

  @Test(
    .fault("bad setting"),
    arguments: [
      "group = com.example.file", "[llavero]\ngruop = com.example.file", "[llavero]\ngroup = no group",
      "[llavero]\nstore = papyrus", "[llavero]\nstore = file:relative", "[llavero]\nbroker = perhaps",
      "[llavero]\nfrom = nowhere", "[llavero]\nkey = hunter2", "[llavero]\ngroup", "[llavero",
      "[llavero]\nclient = x # mine",
      "[llavero]\nscope = Mail.Read #ours", "[llavero]\ntenant = contoso.com\t# theirs",
    ])
  func `An invalid configuration exits with 2, and the message names the file`(text: String) throws {
    let error = try list(text).exits(2, printing: "", code: "invalid_configuration").error
    #expect(error?["message"]?.stringValue?.contains(tool.files.path + "/llavero/config") == true)
    // What GLib says calls the file a key file, which is another thing here.
    #expect(error.map { !"\($0)".contains("ey file") } == true)
  }

  @Test(.fault("bad setting"))
  func `A configuration without a group is answered with its form`() throws {
    try list("client = abc").exits(2, saying: "[llavero] stands above the settings")
  }

  @Test(.fault("config is pipe")) func `A configuration that is not a regular file exits with 2`() throws {
    try tool.configure("")
    let path = tool.files.path + "/llavero/config"
    for make in [{ mkfifo(path, 0o600) }, { symlink("/dev/zero", path) }, { mkdir(path, 0o700) }] {
      remove(path)
      #expect(make() == 0)
      try list(nil).exits(2, saying: path)
    }
  }

  @Test(.fault("bad HOME"))
  func `Without a home directory there is no configuration, and no other harm`() throws {
    func run(_ home: String, _ command: String...) throws -> Child.Result {
      try tool.run(
        command,
        with: ["HOME": home, "XDG_CONFIG_HOME": nil, "XDG_DATA_HOME": nil, "LLAVERO_KEY": "keyring"])
    }
    for home in ["/dev/null", tool.files.path + "/none", ""] {
      #expect(try run(home, "list").status == 0)
      #expect(try run(home, "adopt").status == 0)
    }
    #expect(try run("/dev/null", "list", "--store", "file").status == 0)
  }

  @Test(.fault("bad HOME"), .enabled(if: geteuid() == 0, "only root can change its user"))
  func `A home directory that the user may not enter counts as missing`() throws {
    try tool.files.file("home/.config/llavero/config", "[llavero]\ngroup = com.example.file\n", mode: 0o600)
    chmod(tool.files.path, 0o711)
    for (mode, status): (mode_t, Int32) in [(0o700, 0), (0o755, 2)] {
      chmod(tool.files.path + "/home", mode)
      // This user has no bus; an invalid configuration is reported first.
      let result = try Child.run(
        "setpriv", ["--reuid=65534", "--clear-groups", Tool.path, "list", "--json"],
        environment: [
          "HOME": tool.files.path + "/home", "PATH": "/usr/bin:/bin",
          "DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent",
        ])
      let code = try result.error?["code"]?.stringValue
      #expect(code == (status == 2 ? "invalid_configuration" : "unavailable"), "\(result.standardError)")
    }
  }

  @Test(.fault("unreachable config"), .enabled(if: geteuid() == 0, "only root can change its user"))
  func `A configuration that the user may not reach is an error`() throws {
    try tool.files.file("home/.config/llavero/config", "[llavero]\nclient = abc", mode: 0o644)
    for path in ["", "/home", "/home/.config"] { chmod(tool.files.path + path, 0o711) }
    chmod(tool.files.path + "/home/.config/llavero", 0)
    try Child.run(
      "setpriv", ["--reuid=65534", "--clear-groups", Tool.path, "login", "--json"],
      environment: ["HOME": tool.files.path + "/home", "PATH": "/usr/bin:/bin"]
    ).exits(2, printing: "", code: "invalid_configuration")
  }

  @Test(.fault("sudo -E"), .enabled(if: geteuid() == 0, "only root can change its user"))
  func `Root leaves nothing in another user's home directory`() throws {
    let home = try tool.files.directory("home")
    let key = try tool.files.keyFile()
    #expect(chown(home, 65534, 65534) == 0)
    func run(_ command: [String]) throws -> Child.Result {
      try tool.run(
        command, input: Sample.cache,
        with: ["HOME": home, "XDG_CONFIG_HOME": nil, "XDG_DATA_HOME": nil, "LLAVERO_KEY": "file:" + key])
    }
    let files = ["--store", "file"]
    for command in [
      ["setup"] + files, ["import", "-"] + files, ["import", "-"], ["shim", "install", "az"],
    ] {
      try run(command).exits(2, saying: "belongs to nobody", "sudo -u nobody llavero " + command[0])
      #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [])
    }
    // A store elsewhere is root's.
    try run(["import", "-", "--store", "file:\(tool.files.path)/store"]).exits(0)
  }

  @Test(.fault("no unit"), arguments: ["10", "m", "-5m", "5d", "1.5h", "99999999999s"])
  func `A span of time has a number and a unit`(_ validity: String) throws {
    try tool.run(["token", "--min-validity=\(validity)"]).exits(2, saying: "such as 10m")
  }

  @Test func `Help needs no configuration`() throws {
    try tool.configure("[llavero]\nstore = papyrus")
    try tool.run(["list", "--help"], with: ["XDG_CONFIG_HOME": tool.files.path]).exits(0)
  }
}

extension Tool {
  /// Writes the configuration file that a run with the directory of the test's files as `XDG_CONFIG_HOME` reads.
  func configure(_ text: String) throws { try files.file("llavero/config", text) }
}
