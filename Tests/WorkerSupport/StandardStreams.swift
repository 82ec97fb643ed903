import Dispatch
import Glibc
import Synchronization

/// Writes a line at once, so that it is not lost if the process is killed right after.
package func writeLine(_ text: String) {
  // Not by stdio, whose lock on standard input a task that reads it may hold.
  let bytes = Array((text + "\n").utf8)
  if write(STDOUT_FILENO, bytes, bytes.count) != bytes.count { exit(74) }
}

/// Whether standard input has ended, which tells a worker to stop. What comes before its end is dropped.
package final class EndOfInput: Sendable {
  private let value = Atomic(false)

  package var isReached: Bool { value.load(ordering: .relaxed) }

  package init() {
    // Not on the cooperative pool, which must not be blocked.
    DispatchQueue.global().async { [self] in
      while readLine() != nil {}
      value.store(true, ordering: .relaxed)
    }
  }
}
