import GLibSupport
import Glibc

/// What a process of the tool settles for itself before it does anything else.
enum ProcessSetup {
  /// So many descriptors are enough for any command, with those of GLib and of Swift's runtime.
  private static let descriptors = 52
  /// So much address space, in MiB, is enough for the threads and libraries of any command. GLib ends a process that gets
  /// too little, and libdispatch waits without end for a thread that cannot be had.
  private static let addressSpace = 128

  /// - Throws: `Failure.Message` when no command could work.
  static func run() throws(Failure.Message) {
    leaveNothingOfACrash()
    dropLibsecretWarning()
    openStandardStreams()
    guard canOpen(descriptors) else {
      throw Failure.Message(
        name: "too_few_descriptors",
        message: "This process may open too few files: \(descriptors) more are needed.",
        advice: "Allow more, for example with: ulimit -n 1024")
    }
    guard canMap(addressSpace << 20) else {
      throw Failure.Message(
        name: "too_little_memory",
        message:
          "This process may use too little memory: \(addressSpace) MiB of address space more are needed.",
        advice: "Allow more, for example with: ulimit -v unlimited")
    }
  }

  private static func canMap(_ size: Int) -> Bool {
    let space = unsafe mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard unsafe space != MAP_FAILED else { return false }
    return unsafe munmap(space, size) == 0
  }

  private static func leaveNothingOfACrash() {
    // A core file would hold tokens. Not 0: a program that takes cores, such as apport, would still be given one.
    // With 1 the kernel writes no file either.
    var none = rlimit(rlim_cur: 1, rlim_max: 1)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // Where there is a Swift toolchain, the runtime has a report printed, with the registers and what they point to.
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] where !isIgnored(number) {
      signal(number, SIG_DFL)
    }
  }

  /// Gives a stream that was closed something that fails as it did; the next file to be opened would take its place, and
  /// get what is said on it. Standard error is discarded.
  private static func openStandardStreams() {
    for (stream, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
    where fcntl(stream, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", mode)
    }
  }
}

/// Whether the process was started to ignore a signal.
func isIgnored(_ signal: Int32) -> Bool {
  var action = sigaction()
  unsafe sigaction(signal, nil, &action)
  return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    == unsafeBitCast(SIG_IGN, to: Int.self)
}
