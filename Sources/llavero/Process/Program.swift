import ArgumentParser
import GLibSupport
import Glibc

@main
enum Program {
  /// Runs the command that the command line names, reports what it throws, and ends the process.
  ///
  /// The main thread waits for signals until then. An asynchronous main function would lend that thread to Dispatch,
  /// which takes descriptors before there is a chance to see whether it can have them, and signals.
  static func main() {
    let signals = Interruption.block()
    do {
      try ProcessSetup.run()
    } catch {
      Failure.exit(with: error)
    }
    Interruption.wait(for: signals, cancelling: Task.detached { await run() })
  }

  private static func run() async -> Never {
    var parsed: (any ParsableCommand)?
    do {
      var command = try parsedCommand()
      parsed = command
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure.exit(with: error, of: parsed)
    }
    exit(EXIT_SUCCESS)
  }

  /// The command that the command line names, with its arguments.
  ///
  /// The parser takes milliseconds to set up a tree of commands, so the command is parsed alone. Whatever is not
  /// simply its arguments, such as a mistake or a call for help, is left to the whole tree.
  private static func parsedCommand() throws -> any ParsableCommand {
    guard !processArguments.isEmpty else {
      // Without arguments the tool prints its help, which a script would take for what it asked for.
      throw Failure.Message(
        name: "no_arguments", message: "The command line cannot be read.",
        advice: "Mount /proc, and start llavero without preloaded libraries.")
    }
    let arguments = Array(processArguments.dropFirst())
    let named = Llavero.configuration.subcommands.first { $0.configuration.commandName == arguments.first }
    if let named, let command = try? named.parseAsRoot(Array(arguments.dropFirst())),
      type(of: command) == named
    {
      return command
    }
    return try Llavero.parseAsRoot(arguments)
  }
}
