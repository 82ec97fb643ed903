import LabSupport

/// What the tool inherits, and what its child processes inherit.
@Suite(.timeLimit(.minutes(20)))
struct ProcessTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory() }

  /// Settings for an unreachable authority.
  private var unreachable: [String: String?] {
    [
      "LLAVERO_CLIENT_ID": LabApps.plain,
      "LLAVERO_AUTHORITY": "https://localhost:\(ReservedPort.refusing.number)/common",
      "HOME": files.path,
    ]
  }

  @Test(
    .fault("no proc"), .enabled(if: mayMount, "No mount namespace can be made."),
    arguments: [
      "mount -t tmpfs none /proc && exec",
      // With the processes of another namespace.
      "exec unshare --pid --fork",
    ])
  func `Without its own /proc a command is an error at once`(_ setUp: String) throws {
    for command in ["--version", "import -", "token"] {
      try Child.run(
        "unshare", Self.namespace + ["sh", "-c", "\(setUp) \(Tool.path) \(command)"],
        environment: try Tool().environment()
      ).exits(1, saying: "/proc is missing")
    }
  }

  @Test(.fault("moved environment")) func `The arguments are found with a relocated environment`() throws {
    let tool = try Tool()
    let library = try files.directory("lib") + "/mover.so"
    let source = try files.file(
      "mover.c",
      """
      #include <stdlib.h>
      __attribute__((constructor)) static void move(void) { setenv("LLAVERO_TEST_MOVED", "1", 1); }
      """)
    try Child.run("cc", ["-shared", "-fPIC", "-o", library, source]).required()
    for (arguments, status): (String, Int32) in [("token --nonsense", 2), ("--version", 0)] {
      let result = try tool.shell(#"exec "$0" "# + arguments, with: ["LD_PRELOAD": library]).exits(status)
      #expect(!result.standardOutput.contains("SUBCOMMANDS"), "\(result)")
    }
  }

  @Test(
    .enabled(
      if: (try? Child.run("unshare", namespace + ["--net", "true"]).status) == 0,
      "No network namespace can be made."))
  func `A machine without a network is reported as that`() throws {
    let tool = try Tool()
    let arguments = [
      "login", "--device-code", "--client", Sample.mail, "--authority", "https://192.0.2.1/adfs", "--json",
    ]
    let result = try Child.run(
      "unshare", Self.namespace + ["--net", Tool.path] + tool.inGroup(arguments),
      environment: tool.environment()
    ).exits(4, code: "network")
    #expect(result.standardError.contains("The network cannot be reached: 192.0.2.1"), "\(result)")
  }

  @Test func `An argument that is not UTF-8 names no other file`() throws {
    let tool = try Tool()
    try tool.load()
    for name in [#"x\377y"#, #"x\377\314\201"#] {
      try tool.shell(#"exec "$0" export "$1/$(printf "$2")" --group "$GROUP""#, [files.path, name]).exits(2)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: files.path).isEmpty)
  }

  @Test(
    .fault("signal"),
    .enabled(
      if: (try? Child.run("unshare", namespace + ["--pid", "--fork", "true"]).status) == 0,
      "No PID namespace can be made."))
  func `A signal ends the first process of a container`() throws {
    let tool = try Tool()
    let fifo = files.path + "/fifo"
    #expect(mkfifo(fifo, 0o600) == 0)
    // Repeatedly: the kernel drops it until the tool waits for it.
    let script = #"""
      unshare $NAMESPACE --pid --fork --mount-proc --kill-child "$0" import - --group "$GROUP" <>"$1" &
      while read -r _ _ state _ </proc/$!/stat && [ "$state" != Z ]; do
        kill -TERM $(cat /proc/$!/task/$!/children) 2>/dev/null
        sleep 0.05
      done
      wait $!
      """#
    try tool.shell(script, [fifo], with: ["NAMESPACE": Self.namespace.joined(separator: " ")]).exits(143)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can use another user's directory"))
  func `A request makes nothing in another user's runtime directory`() throws {
    let directory = try files.directory("run")
    #expect(chown(directory, 65534, 65534) == 0)
    // With the desktop's settings, where they are installed.
    let changes: [String: String?] = ["XDG_RUNTIME_DIR": directory, "XDG_DATA_DIRS": nil]
    try Tool().run(["login", "--device-code"], with: unreachable.merging(changes) { $1 }).exits(4)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
  }

  @Test(.fault("two lock directories"), .enabled(if: mayMount, "No mount namespace can be made."))
  func `Another runtime directory than that of the logins is reported, and leads to their bus`() throws {
    let tool = try Tool(on: PrivateKeyring(isActivatable: true))
    let setUp = "mount -t tmpfs none /run && mkdir -p /run/user/0 && touch /run/user/0/bus"
    func run(_ command: String, _ changes: [String: String?]) throws -> String {
      let result = try Child.run(
        "unshare", Self.namespace + ["sh", "-c", "\(setUp) && exec \(Tool.path) \(command)"],
        environment: tool.environment(with: changes))
      return result.standardOutput + result.standardError
    }
    let elsewhere = "programs of a login use /run/user/0/llavero"
    #expect(try run("doctor", [:]).contains(elsewhere))
    let noBus: [String: String?] = ["XDG_RUNTIME_DIR": nil, "DBUS_SESSION_BUS_ADDRESS": nil]
    let report = try run("doctor", noBus)
    #expect(!report.contains(elsewhere) && report.contains("Locks work in /run/user/0/llavero"), "\(report)")
    let advice = "Use the bus of your session: export XDG_RUNTIME_DIR=/run/user/0"
    #expect(report.contains(advice), "\(report)")
    #expect(try run("list", noBus).contains(advice))
    let broken = noBus.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent"]) { $1 }
    #expect(try run("list", broken).contains("unset DBUS_SESSION_BUS_ADDRESS; export XDG_RUNTIME_DIR=/run/"))
  }

  private static let namespace = ["--user", "--map-root-user", "--mount"]
  private static let mayMount =
    (try? Child.run("unshare", namespace + ["mount", "-t", "tmpfs", "none", "/proc"]).status) == 0

  @Test(.fault("descriptors"), .lab) func `The browser inherits the standard streams only`() throws {
    let tool = try Tool.atLab()
    let secret = try files.file("passphrase", "correct horse battery staple\n")
    let other = try files.file("other", "another secret")
    let browser = try files.file(
      "browser.py",
      """
      import json, os, runpy, sys
      own = []
      for number in range(3, 256):
          try:
              own.append(os.readlink(f"/proc/self/fd/{number}"))
          except OSError:
              pass
      with open("\(files.path)/seen", "w") as seen:
          json.dump(own, seen)
      sys.argv = ["browser.py", sys.argv[1]]
      runpy.run_path("\(Lab.browser)", run_name="__main__")
      """)
    try tool.shell(
      #"exec "$0" login --store file --key passphrase-fd:3 3<"$1" 5<"$2""#, [secret, other],
      with: ["XDG_DATA_HOME": files.path, "BROWSER": "python3 \(browser)"]
    ).exits(0)
    #expect(try JSONValue(text: try files.contents("seen")) == .array([]))
  }

  @Test(.fault("libsoup 2")) func `libsoup 2 in the process is an error, not a crash`() throws {
    // The symbol that libsoup 3 looks for.
    let source = try files.file("soup2.c", "void soup_uri_new(void) {}\n")
    let library = files.path + "/libsoup2.so"
    try Child.run("cc", ["-shared", "-o", library, source]).exits(0)
    let result = try Tool(settings: unreachable).run(
      ["login", "--device-code"], with: ["LD_PRELOAD": library])
    #expect((1..<6).contains(result.status), "\(result)")
    #expect(result.standardError.contains("libsoup 2"), "\(result)")
  }

  @Test(.fault("few fds")) func `Too few descriptors are an error, not a crash`() throws {
    let tool = try Tool(settings: unreachable)
    let commands = [
      "list", "list --groups", "export", "import -", "clear --all --yes", "doctor", "adopt",
      "adopt --all --yes", "status", "token", "login --device-code", "logout", "get /me",
      "list --store file --key passphrase-fd:0",
    ]
    for limit in 3...60 {
      for command in limit.isMultiple(of: 4) ? commands : ["list", "login --device-code"] {
        let result = try tool.shell(#"ulimit -n "$1"; exec "$0" \#(command)"#, ["\(limit)"])
        // With 3 the dynamic linker cannot open the libraries.
        #expect(result.status < 6 || limit == 3, "\(command) with \(limit): \(result)")
        if (4..<40).contains(limit) {
          #expect(result.standardError.contains("ulimit -n 1024"), "\(command) with \(limit): \(result)")
        }
      }
    }
  }

  @Test(
    .fault("small memory"),
    .enabled(
      if: getenv("ASAN_OPTIONS") == nil && getenv("TSAN_OPTIONS") == nil,
      "a sanitizer takes terabytes of address space for itself"))
  func `Too little memory is an error, neither a crash nor a hang`() throws {
    let limits = [("-v", "address space", [100, 180, 300, 400]), ("-d", "data", [16, 48, 80])]
    for (option, name, sizes) in limits {
      for size in sizes {
        try Tool().shell(
          #"ulimit "$1" "$2"; exec timeout -s KILL 600 "$0" list"#, [option, "\(size << 10)"]
        ).exits(1, saying: "MiB more of \(name)")
      }
    }
  }

  @Test(
    .fault("small memory"), .lab,
    .enabled(
      if: getenv("ASAN_OPTIONS") == nil && getenv("TSAN_OPTIONS") == nil,
      "a sanitizer takes terabytes of address space for itself"),
    arguments: ["-v", "-d"])
  func `The memory that the tool requires is enough to sign in`(option: String) throws {
    let tool = try Tool.atLab()
    // The least that it accepts.
    let limit = try #require(
      try stride(from: 64, to: 4096, by: 8).first { size in
        try tool.shell(#"ulimit "$1" "$2"; exec "$0" list"#, [option, "\(size << 10)"]).status == 0
      })
    for command in ["login", "get /me", "token --force-refresh", "logout"] {
      try tool.shell(
        #"ulimit "$1" "$2"; exec timeout -s KILL 600 "$0" "# + command, [option, "\(limit << 10)"]
      ).exits(0)
    }
  }

  @Test(.fault("few fds"), .lab)
  func `The number of descriptors that the tool requires is enough to sign in`() throws {
    let tool = try Tool.atLab()
    // Swift's runtime opens one before the tool can check.
    try tool.shell(
      #"ulimit -n $(($(ls /proc/$$/fd | wc -l) + 53)); "$0" login && "$0" get /me && exec "$0" token --force-refresh"#
    ).exits(0)
  }

  @Test(.fault("closed stream"))
  func `A closed standard stream gets no other output, and a lost message is ignored`() throws {
    let tool = try Tool()
    try tool.load()
    for (number, errors) in ["&-", "/dev/full"].enumerated() {
      let path = "\(files.path)/cache\(number).json"
      try tool.shell(#"exec "$0" export "$1" --group "$GROUP" 2>"# + errors, [path]).exits(0)
      #expect(try JSONValue(text: files.contents("cache\(number).json")) == JSONValue(text: Sample.cache))
      #expect(try tool.shell(#"exec "$0" list --group . 2>"# + errors).status == 2)
    }
    try tool.shell(#"exec "$0" export --group "$GROUP" >&-"#)
      .exits(1, saying: "Standard output cannot be written")
    try tool.shell(#"exec "$0" list --json --group "$GROUP" >/dev/full"#)
      .exits(1, saying: "No space left", code: "unwritable")
    try tool.shell(#"exec "$0" import - --group "$GROUP" <&-"#)
      .exits(1, saying: "Standard input cannot be read")
  }

  @Test(.fault("plain session"))
  func `A keyring that refuses encryption gets no token without --allow-plain-session`() throws {
    let service = try FakeService(["SearchItems": .reply([.objectPaths([]), .objectPaths([])])])
    let tool = try Tool(on: service.keyring)
    let key = ["XDG_DATA_HOME": files.path, "LLAVERO_STORE": "file", "LLAVERO_KEY": "keyring"]
    for environment in [[:], key] {
      let error = try tool(["import", "-", "--json"], input: Sample.cache, with: environment)
        .exits(1, code: "refused").error
      #expect(error?["message"]?.stringValue?.contains("refuses to encrypt") == true)
      #expect(error?["advice"]?.stringValue?.contains("--allow-plain-session") == true)
    }
    try tool.run(["export", "azure-identity-python", "--json"])
      .exits(1, saying: "--allow-plain-session")
    #expect(Set(service.calls).isSubset(of: ["OpenSession", "Close"]), "\(service.calls)")
    let allowed = try tool("import", "-", "--allow-plain-session", input: Sample.cache)
    #expect(!allowed.standardError.contains("refuses to encrypt"))
    #expect(service.calls.contains("CreateItem"))
  }
}
