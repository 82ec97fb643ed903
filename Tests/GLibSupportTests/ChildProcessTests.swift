import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct ChildProcessTests {
  private let soon = Cancellable(timeout: .seconds(300))

  @Test(.fault("descriptors")) func `A child gets no descriptor but its standard streams`() throws {
    let files = try TemporaryDirectory()
    // As a shell leaves them, without close-on-exec.
    let secrets = try (0..<3).map { open(try files.file("secret\($0)"), O_RDONLY) }
    defer { secrets.forEach { close($0) } }
    try #require(secrets.allSatisfy { $0 > 2 })
    let script =
      #"for n in $(seq 3 200); do [ ! -e /proc/$$/fd/$n ] || echo $n; done; readlink /proc/$$/fd/0 /proc/$$/fd/2"#
    #expect(try outputOfCommand(["sh", "-c", script], soon) == "/dev/null\n/dev/null\n")
  }

  @Test func `A child is in a session of its own and takes signals that its parent's thread does not`() throws
  {
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let script = #"sed -n 's/^Sig\(Blk\|Ign\):\s*//p' /proc/self/status; cut -d " " -f 1,6 /proc/$$/stat"#
    let words = try outputOfCommand(["sh", "-c", script], soon).split(whereSeparator: \.isWhitespace)
    try #require(words.count == 4)
    #expect(words[0].allSatisfy { $0 == "0" })
    let ignored = try #require(UInt64(words[1], radix: 16))
    #expect(ignored >> UInt64(SIGPIPE - 1) & 1 == 0)
    #expect(words[2] == words[3])
  }

  @Test(.fault("few fds"))
  func `Without descriptors a bus is an error, and GLib does not end the process`() async {
    await #expect(processExitsWith: .success) {
      var few = rlimit(rlim_cur: 12, rlim_max: 12)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
      #expect(throws: GLibError.outOfDescriptors) {
        try BusConnection(address: "unix:path=/proc/nonexistent", Cancellable(timeout: .seconds(5)))
      }
    }
  }
}

@Suite(.timeLimit(.minutes(20)))
struct CommandOutputTests {
  private let soon = Cancellable(timeout: .seconds(300))

  @Test func `A command's output is returned, and variables reach it`() throws {
    let command = ["sh", "-c", #"echo "$ONE $0"; echo lost >&2"#, "two words"]
    #expect(try outputOfCommand(command, variables: ["ONE": "1"], soon) == "1 two words\n")
  }

  @Test(arguments: [["/proc/nonexistent/program"], ["false"], ["sh", "-c", "kill -9 $$"]])
  func `A command that cannot be started or fails is an error`(command: [String]) {
    #expect(throws: GLibError.self) { try outputOfCommand(command, soon) }
  }

  @Test(.fault("lives on"), arguments: ["", "exec >&-; "])
  func `A command that does not end in time is killed, even with its output closed`(start: String) throws {
    let files = try TemporaryDirectory()
    let end = files.path + "/end"
    // One process, which makes a file when it ends by itself.
    let script = start + #"exec python3 -c 'import sys, time; time.sleep(600); open(sys.argv[1], "w")' "$0""#
    #expect(throws: GLibError.self) {
      try outputOfCommand(["sh", "-c", script, end], Cancellable(timeout: .milliseconds(100)))
    }
    #expect(access(end, F_OK) != 0)
  }
}

struct ProcessEnvironmentTests {
  @Test func `The environment is what the process has at the moment`() async {
    await #expect(processExitsWith: .success) {
      setenv("LLAVERO_TEST_EQUALS", "a=b=", 1)
      setenv("LLAVERO_TEST_EMPTY", "", 1)
      #expect(processEnvironment()["LLAVERO_TEST_EQUALS"] == "a=b=")
      #expect(processEnvironment()["LLAVERO_TEST_EMPTY"]?.isEmpty == true)
      #expect(processEnvironment() == ProcessInfo.processInfo.environment)
      unsetenv("LLAVERO_TEST_EQUALS")
      #expect(processEnvironment()["LLAVERO_TEST_EQUALS"] == nil)
      // A second variable of the first one's name.
      setenv("LLAVERO_TEST_FIRST", "1", 1)
      let other = try #require(strdup("LLAVERO_TEST_OTHER=2"))
      putenv(other)
      memcpy(other, "LLAVERO_TEST_FIRST", "LLAVERO_TEST_FIRST".utf8.count)
      #expect(processEnvironment()["LLAVERO_TEST_FIRST"] == "1")
      // One without an equals sign, and one behind it.
      other["LLAVERO_TEST_FIRST".utf8.count] = 0
      setenv("LLAVERO_TEST_LAST", "1", 1)
      #expect(processEnvironment()["LLAVERO_TEST_LAST"] == "1")
    }
  }
}
