/// Leads the process group of a test's daemons, and holds the reading end of a pipe: when this process ends, however it
/// does, it removes a directory and kills the group. (PR_SET_PDEATHSIG does not do: it fires when the *thread* that started
/// the child ends.)
package final class Watchdog: Sendable {
  private let lifeline: Pipe
  private let child: Child

  package init(over directory: String, environment: [String: String]) throws {
    lifeline = try Pipe()
    let script = #"trap "" HUP INT TERM; cat >/dev/null; rm -rf "$1"; kill -KILL 0"#
    child = try Child(
      "/bin/sh", ["-c", script, "watchdog", directory], environment: environment,
      streams: (lifeline.reading, nil, nil))
    lifeline.closeReading()
  }

  /// The group that the daemons join.
  package var group: Int32 { child.pid }

  /// Ends the group, and removes the directory.
  package func end() {
    lifeline.closeWriting()
    child.wait()
  }
}
