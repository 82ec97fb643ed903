package import ArgumentParser
import Glibc

/// What the tool's programs have in common.
package enum CommandProgram {
  package static let version = "0.1.0"

  /// Runs the command that the command line names, and reports what it throws.
  package static func run(_ program: (some AsyncParsableCommand).Type) async {
    // A core file would hold tokens.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    do {
      var command = try program.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure.exit(with: error, of: program)
    }
  }
}
