import SecretService
import TestSupport

/// `adopt`, and `import` and `export` with caches of other programs, in a home directory of their own.
@Suite(.timeLimit(.minutes(20)))
struct PeerCacheTests {
  let tool: Tool
  let azure: String

  init() throws {
    tool = try Tool { ["HOME": $0.path, "XDG_DATA_HOME": $0.path + "/.local/share"] }
    azure = try tool.files.directory(".azure") + "/msal_token_cache.json"
  }

  private func json(_ arguments: String...) throws -> JSONValue {
    try tool(arguments + ["--json"]).required().json
  }

  private func writeAzureCLI(_ text: String = Sample.cache, mode: mode_t = 0o600) throws {
    try tool.files.file(".azure/msal_token_cache.json", text, mode: mode)
  }

  /// Writes a cache of azureauth, and returns its path.
  @discardableResult
  private func writeAzureAuth(_ text: String = Sample.cache, tenant: String = "tenant") throws -> String {
    try tool.files.file(".azureauth/msal_\(tenant)_cache.json", text)
  }

  private func source(_ name: String) throws -> JSONValue? {
    try json("adopt")["sources"]?.arrayValue?.first { $0["name"]?.stringValue == name }
  }

  @Test func `A plaintext cache is listed with its problems and without its tokens`() throws {
    try writeAzureCLI(mode: 0o644)
    try tool.files.file(".azure/msal_token_cache.json.lockfile", "\(missingProcess) python")
    let found = try #require(try source("azure-cli"))
    #expect(found["is_encrypted"] == .bool(false) && found["path"] == .string(azure))
    #expect(found["place"] == "file")
    #expect(found["account_count"] == .integer(2) && found["record_count"] == .integer(10))
    #expect(found["findings"]?.strings("kind") == ["stale_lock", "plaintext", "readable_by_others"])
    let text = try tool("adopt").standardOutput
    #expect(text.contains("PLAINTEXT") && text.contains("llavero adopt") && !text.contains("secret-"))
    try tool.onTerminal("adopt", columns: 250).exits(0, saying: "\u{1B}[33mPLAINTEXT")

    // The doctor examines all groups of a keyring, and that of this tool has the groups of other tests.
    let noBus = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(tool.files.path)/missing"]
    try tool.examine(["--fix"], with: noBus).finds("sources", "fixed", "warning", "fixed")
    #expect(try source("azure-cli")?["findings"]?.strings("kind") == ["plaintext"])
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == Sample.cache)
    #expect(access(azure + ".lockfile", F_OK) != 0)
  }

  @Test(
    .fault("container lock"),
    .enabled(if: geteuid() == 0 && access("/dev/shm", W_OK) == 0, "only root can make a PID namespace"))
  func `In a container a lock of a missing process is kept for two minutes`() throws {
    // On another file system than the container's own, as a home directory from outside is.
    let home = try TemporaryDirectory(in: "/dev/shm")
    try home.file(".azure/msal_token_cache.json", Sample.cache)
    let lock = try home.file(".azure/msal_token_cache.json.lockfile", "\(missingProcess) python")
    func kinds() throws -> [String] {
      let result = try Child.run(
        "unshare", ["--pid", "--fork", "--mount-proc", Tool.path, "adopt", "--json"],
        environment: tool.environment(with: ["HOME": home.path, "XDG_DATA_HOME": home.path]))
      return try result.json["sources"]?.arrayValue?
        .flatMap { $0["findings"]?.strings("kind") ?? [] } ?? []
    }
    #expect(try !kinds().contains("stale_lock"))
    // The tool is the first process there, as the other program may be in its container.
    try home.file(".azure/msal_token_cache.json.lockfile", "1 python")
    #expect(try !kinds().contains("stale_lock"))
    try home.file(".azure/msal_token_cache.json.lockfile", "1 \(Tool.path)")
    #expect(try kinds().contains("stale_lock"))
    try home.file(".azure/msal_token_cache.json.lockfile", "\(missingProcess) python")
    let old = [timeval(tv_sec: time(nil) - 600, tv_usec: 0), timeval(tv_sec: time(nil) - 600, tv_usec: 0)]
    #expect(utimes(lock, old) == 0)
    #expect(try kinds().contains("stale_lock"))
  }

  @Test func `Refresh tokens without an account and duplicate records are reported of each cache`() throws {
    try writeAzureCLI(Sample.faulty)
    try writeAzureAuth(Sample.faulty)
    let sources = try json("adopt")["sources"]?.arrayValue ?? []
    let kinds = sources.map { $0["findings"]?.strings("kind").filter { $0 != "readable_by_others" } }
    let expected = ["plaintext", "orphaned_refresh_tokens", "duplicates"]
    #expect(kinds == [expected, expected])
  }

  @Test func `An unavailable keyring is an error, and plaintext caches are listed`() throws {
    try writeAzureCLI(Sample.cache([Sample.account(Sample.bob, "bob@contoso.example")]))
    try writeAzureAuth()
    // Those in the keyring are listed between them.
    let names = ["azure-cli", "azureauth-file:tenant"]
    let result = try tool(
      "adopt", "--json", with: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent"]
    ).exits(1, code: "unavailable")
    #expect(try result.json["sources"]?.strings("name") == names)
    #expect(try result.json["sources"]?[0]?["findings"]?.strings("kind") == ["plaintext"])
    // Where another store is used, nothing is missing without a bus or a keyring.
    let key = "file:" + (try tool.files.keyFile())
    let bare = try PrivateKeyring(startingDaemon: false)
    defer { withExtendedLifetime(bare) {} }
    for address in ["unix:path=/proc/nonexistent", bare.busAddress] {
      let other = try tool(
        "adopt", "--json",
        with: ["DBUS_SESSION_BUS_ADDRESS": address, "LLAVERO_STORE": "file", "LLAVERO_KEY": key])
      #expect(try other.exits(0).json["sources"]?.strings("name") == names)
    }
  }

  @Test func `Bound tokens and those for claims are not exported to other programs`() throws {
    let file = tool.files.path + "/other.json"
    let bound: JSONObject = [
      "credential_type": "AccessToken_With_AuthScheme", "token_type": "Pop", "kid": "key",
    ]
    try tool.load([
      .accessToken("bearer", key: "one", host: Sample.host), .refreshToken("refresh", key: "two"),
      .accessToken("bound", key: "three", host: Sample.host, scopes: "C", bound),
      .accessToken("claimed", key: "four", host: Sample.host, ["requested_claims": "{}"]),
    ])
    try tool("export", "file", "--location", file).exits(0)
    #expect(try JSONValue(text: tool.files.contents("other.json")).secrets.sorted() == ["bearer", "refresh"])
    // As a serialized cache, which any program may read.
    #expect(try tool.exported().secrets.sorted() == ["bearer", "refresh"])
    try tool("export", tool.files.path + "/new.json").exits(0)
    #expect(try JSONValue(text: tool.files.contents("new.json")).secrets.sorted() == ["bearer", "refresh"])
    #expect(try tool.json("list")["records"]?.arrayValue?.count == 4)
  }

  @Test func `A locked keyring exits with 3, and plaintext caches are listed`() throws {
    var tool = tool
    tool.keyring = try PrivateKeyring()
    try writeAzureCLI()
    try tool.load()
    try tool("export", "azure-identity-python").required()
    try tool.keyring.lockCollection()
    let result = try tool("adopt", "--json").exits(3, code: "locked")
    #expect(try result.json["sources"]?.strings("name") == ["azure-cli"])
    try tool("import", "azure-identity-python", "--json").exits(3, code: "locked")
  }

  @Test(.fault("lock file gone")) func `Where no locks are given no lock file is left`() throws {
    try writeAzureCLI()
    // As a file system of the network does: flock is answered with ENOLCK.
    let script = """
      import ctypes, os, struct, sys
      def step(code, yes, no, value): return struct.pack("HBBI", code, yes, no, value)
      number = {"x86_64": 73, "aarch64": 32}[os.uname().machine]
      code = ctypes.create_string_buffer(
          step(0x20, 0, 0, 0) + step(0x15, 0, 1, number) + step(6, 0, 0, 0x50000 | 37) + step(6, 0, 0, 0x7fff0000))
      class Program(ctypes.Structure):
          _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
      libc = ctypes.CDLL(None)
      assert libc.prctl(38, 1, 0, 0, 0) == 0
      assert libc.prctl(22, 2, ctypes.byref(Program(4, ctypes.addressof(code)))) == 0
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let lock = tool.files.path + "/.azure/msal_token_cache.json.lockfile"
    for isOthers in [false, true] {
      if isOthers { try tool.files.file(".azure/msal_token_cache.json.lockfile") }
      try Child.run(
        "/usr/bin/python3", ["-c", script, Tool.path] + tool.inGroup(["import", "azure-cli", "--json"]),
        environment: tool.environment()
      ).exits(1, code: "unavailable")
      #expect((access(lock, F_OK) == 0) == isOthers)
    }
  }

  @Test(.fault("signal")) func `A signal removes the lock files of other programs`() throws {
    let locks = try ["msal_token_cache.bin", "service_principal_entries.bin"].map {
      try tool.files.directory(".azure") + "/\($0).lockfile"
    }
    let held = open(locks[1], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(held) }
    #expect(flock(held, LOCK_EX) == 0)
    for signal in [SIGINT, SIGTERM] {
      let child = try tool.start(tool.inGroup(["import", "azure-cli-encrypted"]))
      // The file is there for 15 s, which another test's turn on this thread could take.
      while access(locks[0], F_OK) != 0 { usleep(1000) }
      child.signal(signal)
      #expect(child.wait() != 0)
      #expect(access(locks[0], F_OK) != 0)
    }
  }

  @Test func `A preview changes nothing`() throws {
    try writeAzureCLI()
    let preview = try json("import", "azure-cli", "--dry-run")
    #expect(preview.keys == ["dry_run", "group", "kept", "peer", "problems", "records", "saved"])
    #expect(preview["saved"] == .integer(10) && preview["records"]?.arrayValue?.count == 10)
    #expect(try tool.exported() == .object([:]))
    #expect(try tool("import", "azure-cli").standardOutput.hasPrefix("10 records imported into"))
    #expect(try json("import", "azure-cli", "--dry-run")["records"] == .array([]))

    let export = try json("export", "file", "--location", tool.files.path + "/new", "--dry-run")
    #expect(export["saved"] == .integer(10))
    #expect(access(tool.files.path + "/new", F_OK) != 0)
  }

  @Test func `An export into a file of another program keeps its records, and warns of plaintext`() throws {
    let theirs = Sample.cache([Sample.refreshToken("theirs", "9.x", Sample.mail)])
    let file = try tool.files.file("theirs", String(theirs.dropLast()) + #", "Custom": {"x": [1]}}"#)
    try tool.load()
    try tool("export", "file", "--location", file).exits(0, saying: "in plaintext")
    let after = try JSONValue(text: tool.files.contents("theirs"))
    #expect(after["Custom"] == .object(["x": .array([.integer(1)])]))
    #expect(after["RefreshToken"]?.keys.count == 3)
    #expect(mode(of: file) == 0o600)
  }

  @Test func `An export replaces an older overlapping access token`() throws {
    let old = Sample.accessToken("old", Sample.alice, Sample.mail, "User.Read", expiresOn: Sample.future)
    let file = try tool.files.file("theirs", Sample.cache([old]))
    let new = Sample.accessToken(
      "new", Sample.alice, Sample.mail, "User.Read Mail.Read", at: "1767229200", expiresOn: Sample.future)
    try tool.load([new])
    try tool("export", "file", "--location", file).exits(0, saying: "in plaintext")
    #expect(try JSONValue(text: tool.files.contents("theirs")).secrets == ["secret-at-new"])
    // Nothing is written the second time.
    try tool("export", "file", "--location", file).exits(0, errors: "")
  }

  @Test(
    .fault("az item name"),
    arguments: [
      ("azure-cli-keyring", ["xdg:schema": "Microsoft Azure CLI", "type": "Token cache"], "sig"),
      ("azure-cli-encrypted", ["xdg:schema": "my_schema_name", "my_attr1": "foo", "my_attr2": "bar"], "bin"),
    ])
  func `Azure CLI's item is found by its old and its new name`(
    name: String, attributes: [String: String], suffix: String
  ) async throws {
    var tool = tool
    tool.keyring = try PrivateKeyring()
    let client = SecretServiceClient(busAddress: tool.keyring.busAddress)
    let collection = try await client.collection().path
    func create(_ attributes: [String: String], _ secret: String) async throws -> ObjectPath {
      try await client.create(
        label: "", attributes: attributes, secret: SecretBytes(copying: Array(secret.utf8)), in: collection)
    }
    func payload(_ path: ObjectPath) async throws -> String {
      let secrets = try await client.secrets(of: [path])
      return try #require(secrets[path]).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    let item = try await create(attributes, Sample.cache)
    // Has the new one's schema, and another type.
    let principals = try await create(
      ["xdg:schema": "Microsoft Azure CLI", "type": "Secret store"], #"[{"client_secret":"s3cret"}]"#)
    let sources = try tool("adopt", "--json").exits(0).json["sources"]
    #expect(sources?.strings("name") == [name])
    #expect(sources?[0]?["account_count"] == .integer(2) && sources?[0]?["is_encrypted"] == .bool(true))
    try tool("import", name).exits(0)
    #expect(try tool.exported().secrets.contains("secret-rt-alices"))

    try tool.load([Sample.refreshToken("carols", "9.x", Sample.mail)])
    try tool("export", name).exits(0)
    #expect(try await payload(item).contains("secret-rt-carols"))
    #expect(try await payload(principals) == #"[{"client_secret":"s3cret"}]"#)
    // So a process of Azure CLI sees that there is something new.
    let signal = tool.files.path + "/.azure/msal_token_cache." + suffix
    #expect(access(signal, F_OK) == 0)
    #expect(access(signal + ".lockfile", F_OK) != 0)
    // As Azure CLI leaves it after the last sign-out.
    try await client.setSecret(SecretBytes(copying: Array("{}".utf8)), of: item)
    #expect(try tool("adopt", "--json").exits(0).json["sources"]?[0]?["record_count"] == .integer(0))
  }

  @Test func `Adopting moves a plaintext cache into the keyring`() throws {
    try writeAzureCLI()
    #expect(try json("adopt", "azure-cli", "--keep")["adopted"]?[0]?["removed"] == .bool(false))
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == Sample.cache)
    try tool("adopt", "--all", "--yes").exits(0, saying: "az login")
    #expect(access(azure, F_OK) != 0)
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
    #expect(try tool("adopt", "--all", "--yes").standardError == "No plaintext token caches found.\n")
    try tool("adopt", "azure-cli", "--yes", "--json").exits(1, code: "not_found")
  }

  @Test(.fault("signal")) func `What a killed process left of a plaintext cache goes with it`() throws {
    try writeAzureCLI()
    try tool.load([Sample.refreshToken("carols", "9.x", Sample.mail)])
    let others = try ["x7.new", "7.old"].map {
      try tool.files.file(".azure/msal_token_cache.json.\($0)", "theirs")
    }
    for command in [["export", "azure-cli"], ["adopt", "azure-cli", "--yes"]] {
      let leftover = try tool.files.file(".azure/msal_token_cache.json.7.new", Sample.cache)
      let alias = tool.files.path + "/.azure/msal_token_cache.json.8.new"
      #expect(symlink(others[0], alias) == 0)
      // Another name of it shows that it was overwritten.
      let copy = tool.files.path + "/copy-" + command[0]
      #expect(link(leftover, copy) == 0)
      try tool(command).exits(0)
      #expect(access(leftover, F_OK) != 0 && mode(of: alias) == nil)
      #expect(try tool.files.contents("copy-" + command[0]).isEmpty)
      for path in others { #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs") }
    }
    #expect(access(azure, F_OK) != 0)
  }

  @Test(.fault("adopt fails"))
  func `On a terminal a no keeps the file, and a yes removes it`() throws {
    try writeAzureCLI()
    let question = "Overwrite \(azure) and remove it? [y/N] "
    try tool.onTerminal("adopt", "azure-cli", columns: 200, typing: "n\n")
      .exits(5, saying: "Not removed: \(azure).")
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == Sample.cache)
    try tool.onTerminal("adopt", "azure-cli", columns: 200, typing: "y\n")
      .exits(0, saying: question + "\(azure) was overwritten and removed.")
    #expect(access(azure, F_OK) != 0)
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
  }

  @Test func `A file that its program empties during the question is kept without an error`() throws {
    try writeAzureCLI()
    try tool.onTerminal(
      "adopt", "azure-cli", columns: 200, answering: ["y"], with: ["HOME": tool.files.path],
      asked: { _ in try writeAzureCLI("{}") }
    ).exits(0, saying: "imported", hiding: "was overwritten")
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == "{}")
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
  }

  @Test func `Without a terminal nothing is adopted`() throws {
    try writeAzureCLI()
    try tool("adopt", "--all", "--json").exits(3, code: "confirmation_required")
    #expect(try tool.exported() == .object([:]))
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == Sample.cache)
  }

  @Test(arguments: [
    Named("half a file", String(Sample.cache.dropLast(40))),
    Named("not a cache", "secret-html"),
    Named("service principals", #"[{"client_secret": "secret-x"}]"#),
  ])
  func `A damaged cache is an error and is kept`(_ text: Named<String>) throws {
    try writeAzureCLI(text.value)
    for command in [["adopt", "azure-cli", "--yes"], ["import", "azure-cli"]] {
      try tool(command + ["--json"]).exits(1, printing: "", hiding: "secret-", code: "damaged")
    }
    #expect(try source("azure-cli")?["findings"]?.strings("kind") == ["damaged"])
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == text.value)
  }

  @Test func `A damaged cache is skipped where it was named, and those adopted are reported`() throws {
    try writeAzureCLI("secret-html")
    let file = try writeAzureAuth()
    let result = try tool("adopt", "azureauth-file:tenant", "azure-cli", "--yes", "--json")
      .exits(1, code: "damaged")
    let adopted = try result.json["adopted"]
    #expect(adopted?.strings("name") == ["azureauth-file:tenant"])
    #expect(access(file, F_OK) != 0)
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == "secret-html")
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
  }

  @Test func `A cache whose account has an entry of a later version is skipped`() async throws {
    let group = try KeychainGroup(tool.group)
    let shard = ShardID(homeAccountID: Sample.alice, group: group).rawValue
    try await tool.create(shard: shard, version: "2", secret: "later")
    try writeAzureCLI()
    let bob = try writeAzureAuth(Sample.cache([Sample.account(Sample.bob, "bob@contoso.example")]))
    let report = try tool("adopt", "--all", "--yes", "--json").exits(1, code: "newer_version").json
    #expect(report["failed"]?.strings("name") == ["azure-cli"])
    #expect(report["adopted"]?.strings("path") == [bob])
  }

  @Test(.fault("adopt fails")) func `JSON lists each failure where all caches fail`() throws {
    try writeAzureCLI("secret-html")
    try writeAzureAuth("secret-html")
    let report = try tool("adopt", "--all", "--yes", "--json").exits(1, code: "damaged").json
    #expect(report["failed"]?.strings("name") == ["azure-cli", "azureauth-file:tenant"])
    #expect(report["adopted"] == .array([]))
  }

  @Test(.fault("az plaintext")) func `adopt azure-cli prints how to keep its sign-in`() throws {
    try writeAzureCLI()
    try tool("adopt", "azure-cli", "--yes")
      .exits(0, saying: "llavero export azure-cli-encrypted", "az logout")
  }

  @Test(.fault("json warning"))
  func `An unreadable cache is a warning in JSON`() throws {
    #expect(mkfifo(azure, 0o600) == 0)
    let result = try tool("adopt", "--json")
    #expect(result.standardError.isEmpty, "\(result)")
    let warnings = try result.json["warnings"]?.arrayValue ?? []
    #expect(warnings.contains { $0.stringValue?.contains(azure) == true })
    #expect(try tool("adopt").standardError.contains("warning: "))
  }

  typealias Obstacle = @Sendable (_ path: String) throws -> Void

  static let obstacles: [(Named<Obstacle>, code: String)] = [
    (Named("a pipe", { #expect(mkfifo($0, 0o600) == 0) }), "unavailable"),
    (Named("a directory", { #expect(mkdir($0, 0o700) == 0) }), "unavailable"),
    (Named("a link to itself", { #expect(symlink($0, $0) == 0) }), "unavailable"),
    (
      Named(
        "a file of 1 GB",
        {
          let file = open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
          #expect(ftruncate(file, 1 << 30) == 0)
          close(file)
        }), "too_large"
    ),
    (
      Named(
        "a lock that is a directory",
        {
          try Data(Sample.cache.utf8).write(to: URL(filePath: $0))
          #expect(mkdir($0 + ".lockfile", 0o700) == 0)
        }), "unavailable"
    ),
  ]

  @Test(.fault("adopt odd"), arguments: obstacles)
  func `A cache that cannot be adopted is skipped and reported at the end`(
    _ obstacle: Named<Obstacle>, code: String
  ) throws {
    try obstacle.value(azure)
    let adopted = try writeAzureAuth(tenant: "one")
    try writeAzureAuth("secret-html", tenant: "two")
    let report = try tool("adopt", "--all", "--yes", "--json").exits(1, code: code).json
    #expect(report["adopted"]?.strings("name") == ["azureauth-file:one"])
    #expect(report["failed"]?.strings("name") == ["azure-cli", "azureauth-file:two"])
    #expect(report["failed"]?.strings("code") == [code, "damaged"])
    #expect(access(adopted, F_OK) != 0)
    var status = stat()
    #expect(lstat(azure, &status) == 0)
    try tool("adopt", "--all", "--yes").exits(1, saying: azure, "msal_two_cache.json")
  }

  @Test(.fault("no directory")) func `A cache at a path without a directory is locked`() throws {
    try tool.files.file("cache.json", Sample.cache)
    // Of a dead process: the next holder removes it.
    let lock = try tool.files.file("cache.json.lockfile", "\(missingProcess) python")
    let script = #"cd "$1" && exec "$0" import file --location cache.json --group "$GROUP""#
    try tool.shell(script, [tool.files.path]).exits(0)
    #expect(access(lock, F_OK) != 0)
  }

  @Test func `The file is kept where the keyring cannot be written`() throws {
    try writeAzureCLI()
    try tool(
      ["adopt", "azure-cli", "--yes", "--json"],
      with: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent"]
    ).exits(1)
    #expect(try tool.files.contents(".azure/msal_token_cache.json") == Sample.cache)
  }

  @Test func `A fallback file that signals changes is emptied and kept`() throws {
    let file = try tool.files.file(".IdentityService/msal.cache.cae", Sample.cache, mode: 0o644)
    // Its columns are almost at their least widths.
    for (width, place) in [(69, 12), (70, 13)] {
      let cells = ["azure-ident…", "PLAINTEXT", "2       ", "10     ", "\(file.prefix(place - 1))…", ""]
      let lines = try tool.onTerminal("adopt", columns: width).exits(0).lines
      #expect(lines.contains { $0.hasPrefix(cells.joined(separator: "  ")) }, "\(lines)")
    }
    #expect(
      try json("adopt", "--all", "--yes")["adopted"]?.strings("name") == ["azure-identity-python-cae-file"])
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_size == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try tool.exported() == JSONValue(text: Sample.cache))
  }

  @Test(arguments: [
    ["import"],
    ["import", "msal-extensions"], ["import", "azure-cli", "--schema", "x"],
    ["import", "x.json", "--location", "/x"], ["import", "x.json", "--schema", "x"],
    ["import", "msal-extensions-go", "--location", "/x"], ["import", "azure-cli", "--from-key", "keyring"],
    ["import", "x.json", "--from-collection", "x"], ["import", "file:"],
    ["import", "etcd+http://example.com"],
    ["import", "file", "--location", "/x", "--attribute", "novalue"],
    ["export", "file", "--location", ""], ["export", "--dry-run"], ["export", "--json"],
    ["export", "azure-cli", "--reveal"],
    ["export", "-", "--to-key", "keyring"],
    ["adopt", "x"], ["adopt", "azure-cli", "--all"], ["adopt", "--yes"], ["adopt", "--keep"],
    ["adopt", "--all", "--keep", "--yes"], ["adopt", "azure-cli-encrypted"],
  ])
  func `Contradictory arguments are a usage error`(_ arguments: [String]) throws {
    #expect(try tool(arguments).status == 2)
  }

  @Test func `A missing cache is not found`() throws {
    try tool("import", "azure-cli", "--json").exits(1, code: "not_found")
    #expect(access(azure + ".lockfile", F_OK) != 0)
    try tool("adopt", "azure-cli-keyring").exits(2, saying: "expected one of azure-cli,")
    let go = ["import", "msal-extensions-go", "--location", tool.files.path + "/go", "--schema", "none"]
    try tool(go + ["--attribute", "name=value"]).exits(
      1, saying: "No cache of MSAL for Go in the keyring item with the schema none.")
    // What its program left behind is listed without a cache.
    try tool.files.file(".azure/msal_token_cache.json.lockfile", "\(missingProcess) python")
    #expect(try source("azure-cli")?["findings"]?.strings("kind") == ["stale_lock"])
  }
}
