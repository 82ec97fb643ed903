import CGLib
import GLibSupport
import Glibc

/// Sets up the process before it does anything else.
enum ProcessSetup {
  /// Enough descriptors for any command, with those of GLib and of Swift's runtime.
  private static let descriptors = 52
  /// Enough memory, in MiB, for any command: its data, and its address space with libraries. Both include the threads' stacks.
  /// GLib ends a process that gets too little, and libdispatch waits forever for a thread that cannot be created.
  private static let (data, addressSpace) = (32 + stacks, 320 + stacks)
  private static let stacks: Int = {
    var (attributes, size) = (pthread_attr_t(), 0)
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_getstacksize(&attributes, &size)
    return 16 * size >> 20
  }()

  /// - Throws: `Failure` when the process lacks what any command needs: descriptors, memory or `/proc`.
  static func run() throws(Failure) {
    // An arena for each thread reserves 64 MiB and grows by a system call for each page.
    _ = mallopt(M_ARENA_MAX, 1)
    preventCrashFiles()
    // Where the parent ignored it, the exit status of each child is lost.
    signal(SIGCHLD, SIG_DFL)
    logToStandardError()
    dropLibsecretWarning()
    openStandardStreams()
    guard canOpen(descriptors) else {
      throw Failure(
        "too_few_descriptors", "The limit of open files is too low: \(descriptors) more are needed.",
        advice: "Raise it, for example with: ulimit -n 1024")
    }
    for (size, access, name, option) in [
      (addressSpace, PROT_NONE, "address space", "v"), (data, PROT_READ | PROT_WRITE, "data", "d"),
    ] where !canMap(size << 20, access) {
      throw Failure(
        "too_little_memory", "The limit of memory is too low: \(size) MiB more of \(name) are needed.",
        advice: "Raise it, for example with: ulimit -\(option) unlimited")
    }
    // libdispatch looks at its threads there every second, and ends a process that has none, or another PID namespace's.
    guard withoutLinks("/proc/self") == "/proc/\(getpid())" else {
      throw Failure(
        "no_proc", "/proc is missing, or shows the processes of another PID namespace.",
        advice: "Mount it, for example with: mount -t proc proc /proc")
    }
  }

  private static func canMap(_ size: Int, _ access: Int32) -> Bool {
    let space = unsafe mmap(nil, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard unsafe space != MAP_FAILED else { return false }
    return unsafe munmap(space, size) == 0
  }

  private static func preventCrashFiles() {
    // A core file would hold tokens. With 0 the kernel would still give one to a program such as apport; with 1 it does not,
    // and writes no file either.
    var none = rlimit(rlim_cur: 1, rlim_max: 1)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    // With a Swift toolchain installed, the runtime prints a report with the registers and the memory they point to.
    for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] where !isIgnored(number) {
      signal(number, SIG_DFL)
    }
  }

  /// Replaces closed standard streams with ones that fail in the same way; otherwise the next opened file would get their
  /// output. Standard error is discarded.
  private static func openStandardStreams() {
    for (stream, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
    where fcntl(stream, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", mode)
    }
  }
}

/// Whether the process was started to ignore a signal.
func isIgnored(_ signal: Int32) -> Bool { unsafe handler(of: signal) == unsafeBitCast(SIG_IGN, to: Int.self) }

/// Whether a signal has no effect: it should end the process, which is the first of a container.
func isLost(_ signal: Int32) -> Bool { getpid() == 1 && handler(of: signal) == 0 }

/// The address of a signal's handler; 0 is the default.
private func handler(of signal: Int32) -> Int {
  var action = sigaction()
  unsafe sigaction(signal, nil, &action)
  return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
}
