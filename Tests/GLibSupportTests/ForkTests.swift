import GLibSupport
import Glibc
import TestSupport
import Testing

/// A child that was forked without exec shares the parent's open files, locks among them.
@Suite(.timeLimit(.minutes(20)))
struct ForkTests {
  /// Swift does not import fork, because little may be done in the child. This one only waits for its end.
  private static func forkedChild() throws -> pid_t {
    let symbol = try #require(dlsym(nil, "fork"))
    let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
    let child = fork()
    if child == 0 { while true { pause() } }
    return child
  }

  private static func end(_ child: pid_t) {
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
  }

  /// In a process of its own: the child would keep open what other tests have open meanwhile.
  @Test(.fault("fork")) func `A lock is free again although a forked child lives on`() async {
    await #expect(processExitsWith: .success) {
      let scratch = try TemporaryDirectory()
      let directory = scratch.path
      func isFree(_ name: String) throws -> Bool {
        try Child.run("flock", ["--nonblock", "\(directory)/\(name)", "true"]).status == 0
      }

      let held = try HeldLockFile(directory: directory, name: "held")
      let shared = try SharedLockFile(directory: directory, name: "shared")
      let child = try shared.withLock(orThrow: { $0 as any Error }) {
        Result { try Self.forkedChild() }
      }.get()
      defer { Self.end(child) }
      #expect(try !isFree("held"))
      #expect(try isFree("shared"))
      held.release()
      #expect(try isFree("held"))
    }
  }
}
