import TestSupport

/// `llavero setup` outside of the service that a key is for. What encrypts is Debian's systemd-creds, with a secret of the
/// tests' own in the place of the machine's.
@Suite(.timeLimit(.minutes(20)))
struct ServiceCredentialTests {
  let tool: Tool

  init() throws {
    tool = try Tool {
      [
        "XDG_CONFIG_HOME": $0.path + "/config", "XDG_DATA_HOME": $0.path + "/data",
        "SYSTEMD_CREDENTIAL_SECRET": $0.path + "/secret",
      ]
    }
  }

  private var path: String { tool.files.path + "/store of 100%/llavero" }

  private func setup(_ arguments: String..., with changes: [String: String?] = [:]) throws -> Child.Result {
    try tool.run(
      ["setup", "--store", "file", "--key", "credential:llavero", "--credential-file", path] + arguments,
      with: changes)
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test func `A key for a service is encrypted, and opens a store once systemd has decrypted it`() throws {
    let report = try setup("--client", #"a"b\c%d"#, "--json").exits(0).json
    #expect(
      report.keys == [
        "does_not_protect", "dry_run", "key_file", "protects", "settings", "unit", "warnings",
      ])
    #expect(report["key_file"]?.stringValue == path)
    let unit = report["unit"]?.arrayValue?.compactMap(\.stringValue) ?? []
    #expect(
      unit == [
        "[Service]", "LoadCredentialEncrypted=llavero:\(tool.files.path)/store of 100%%/llavero",
        "StateDirectory=llavero", #"Environment="LLAVERO_STORE=file""#,
        #"Environment="LLAVERO_KEY=credential:llavero""#, #"Environment="LLAVERO_CLIENT_ID=a\"b\\c%%d""#,
        #"Environment="XDG_DATA_HOME=/var/lib/llavero""#,
      ])
    #expect(mode(of: path) == 0o600)
    // Neither a configuration nor a store: both are the service's.
    #expect(!isThere(tool.files.path + "/config") && !isThere(tool.files.path + "/data"))

    let service = try tool.files.file(
      "some.service", (unit + ["ExecStart=/bin/true", ""]).joined(separator: "\n"))
    try Child.run("systemd-analyze", ["verify", service]).exits(0, errors: "")

    // What systemd does for the service.
    let credentials = try tool.files.directory("credentials")
    try Child.run(
      "systemd-creds", ["decrypt", "--name=llavero", path, credentials + "/llavero"],
      environment: tool.environment()
    ).exits(0)
    #expect(try Data(contentsOf: URL(filePath: credentials + "/llavero")).count == 32)
    let inService = [
      "CREDENTIALS_DIRECTORY": credentials, "LLAVERO_STORE": "file", "LLAVERO_KEY": "credential:llavero",
      "XDG_DATA_HOME": tool.files.path + "/data",
    ]
    let cache = try tool.files.file("cache.json", Sample.cache)
    #expect(try tool.run(["import", cache], with: inService).status == 0)
    #expect(try tool.run(["list"], with: inService).standardOutput.contains("bob@contoso.example"))
    // Inside of the service the store is tried, and the configuration written.
    try tool.run(
      ["setup", "--client", "c", "--store", "file", "--key", "credential:llavero"], with: inService
    ).exits(0)
    #expect(
      try tool.files.contents("config/llavero/config")
        == "[llavero]\nstore = file\nkey = credential:llavero\nclient = c\n")
  }

  @Test(.fault("credential taken"))
  func `An existing credential stays as it is, and its unit is printed again`() throws {
    #expect(try setup("--client", "c").status == 0)
    let before = try Data(contentsOf: URL(filePath: path))
    try setup("--client", "c").exits(
      0, showing: "  LoadCredentialEncrypted=llavero:",
      "Without a TPM, a copy of the whole disk shows every token.", hiding: "was made")
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test func `For etcd, setup prints how other machines get the key, and the unit loads the password`()
    throws
  {
    let arguments = [
      "setup", "--store", "etcd+https://etcd.example.com:2379/llavero", "--key", "credential:llavero",
      "--credential-file", path, "--etcd-user", "llavero", "--etcd-password", "credential:etcd-password",
    ]
    try tool.run(arguments).exits(
      0, showing: "  LoadCredentialEncrypted=etcd-password:/etc/credstore.encrypted/etcd-password\n",
      saying: "Each machine needs this key", "systemd-creds decrypt --name=llavero '\(path)' - | ssh HOST")
  }

  @Test func `A dry run makes no credential, and prints the unit`() throws {
    try setup("--client", "c", "--dry-run").exits(
      0, showing: "The key file \(path) would be made.", "  LoadCredentialEncrypted=llavero:")
    #expect(!isThere(tool.files.path + "/store of 100%") && !isThere(tool.files.path + "/secret"))
  }

  @Test(.fault("key in arguments"))
  func `The key is sent through a pipe, and is in no argument and no variable`() throws {
    _ = try tool.files.program(
      "systemd-creds",
      """
      #!/bin/sh
      (tr '\\0' '\\n' < /proc/$$/cmdline; tr '\\0' '\\n' < /proc/$$/environ) > "$HOME/public"
      base64 > "$HOME/key"
      echo 'A word of caution' >&2
      echo encrypted
      """)
    let programs = ["PATH": tool.files.path + ":/usr/bin:/bin", "HOME": tool.files.path]
    try setup("--client", "c", with: programs).exits(0, errors: "warning: systemd-creds: A word of caution\n")
    let key = try #require(
      Data(base64Encoded: try tool.files.contents("key").split(separator: "\n").joined()))
    #expect(key.count == 32)
    let seen = try Data(contentsOf: URL(filePath: tool.files.path + "/public"))
    let arguments = String(decoding: seen, as: UTF8.self)
    #expect(arguments.contains("encrypt\n--name=llavero\n--tpm2-pcrs=\n-\n-\n"), "\(arguments)")
    let forms = [key, Data(key.base64EncodedString().utf8), Data(hex(key).utf8)]
    for form in forms { #expect(seen.firstRange(of: form) == nil) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "encrypted\n")
  }

  private func hex(_ bytes: Data) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test(
    .fault("no systemd-creds"),
    arguments: [
      ("echo 'No key.' >&2; echo 'No hope.' >&2; exit 1", "llavero: No key.; No hope.\n"),
      ("echo half; exit 1", "llavero: no reason given\n"), ("exit 0", "llavero: no reason given\n"),
    ])
  func `When systemd-creds fails, its reason is shown, and nothing is made`(
    _ script: String, _ reason: String
  ) throws {
    let program = try tool.files.program("systemd-creds", "#!/bin/sh\n\(script)\n")
    let programs = ["PATH": tool.files.path + ":/usr/bin:/bin"]
    try setup("--client", "c", with: programs)
      .exits(
        1, saying: "did not encrypt the credential " + reason, geteuid() == 0 ? "--key file:PATH" : "sudo")
    unlink(program)
    try setup("--client", "c", "--json", with: ["PATH": tool.files.path]).exits(1, code: "no_systemd_creds")
    #expect(!isThere(path))
  }

  @Test(
    .fault("credential taken"),
    arguments: [
      ["--key", "credential:a:b"], ["--key", "credential:../x"], ["--key", "credential:a b"],
      ["--key", "credential:x", "--credential-file", "relative"], ["--key", "file:/tmp/none"],
    ])
  func `Invalid options exit with 2, and nothing is made`(_ arguments: [String]) throws {
    // Of two options of one name the later one counts.
    try tool.run(
      ["setup", "--store", "file", "--key", "credential:x", "--credential-file", path] + arguments
    ).exits(2)
    #expect(!isThere(path) && !isThere(tool.files.path + "/secret") && !isThere(tool.files.path + "/config"))
  }

  @Test func `On a terminal a credential is a valid answer`() throws {
    try tool.onTerminal(
      ["setup", "--store", "file", "--credential-file", path],
      answer: { shown, _ in
        let question = shown.replacing("\r\n", with: "\n").split(separator: "\n").last ?? ""
        if question.hasPrefix("Key (") { return "credential:llavero\n" }
        return ["Client", "Tenant"].contains { question.hasPrefix($0) } ? "\n" : nil
      }
    ).exits(0)
    #expect(isThere(path) && !isThere(tool.files.path + "/config"))
  }
}
