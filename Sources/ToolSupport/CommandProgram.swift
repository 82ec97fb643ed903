package import ArgumentParser
import Glibc

/// What the tool's programs have in common.
package enum CommandProgram {
  package static let version = "0.1.0"

  /// Runs the command that the command line names, and reports what it throws.
  package static func run(_ program: (some AsyncParsableCommand).Type) async {
    // A core file would hold tokens. Not 0: a program that takes cores, such as apport, would still be given one.
    // With 1 the kernel writes no file either.
    var none = rlimit(rlim_cur: 1, rlim_max: 1)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    do {
      var command = try parse(program)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure.exit(with: error, of: program)
    }
  }

  /// The command that the command line names, with its arguments.
  ///
  /// The parser takes milliseconds to set up a tree of commands, so the command is parsed alone. Whatever is not
  /// simply its arguments, such as a mistake or a call for help, is left to the whole tree.
  private static func parse(_ program: any ParsableCommand.Type) throws -> any ParsableCommand {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let named = program.configuration.subcommands.first { $0.configuration.commandName == arguments.first }
    if let named, let command = try? named.parseAsRoot(Array(arguments.dropFirst())),
      type(of: command) == named
    {
      return command
    }
    return try program.parseAsRoot(arguments)
  }
}
