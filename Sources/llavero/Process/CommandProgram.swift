import ArgumentParser
import Glibc
import IdentityClient
import Synchronization

/// How the tool runs its commands.
enum CommandProgram {
  static let version = Library.version

  /// Runs the command that the command line names, reports what it throws, and ends the process.
  ///
  /// To be called on the main thread, which `wait` keeps until then. It gets the task. An asynchronous main function
  /// would lend that thread to Dispatch, which takes descriptors before there is a chance to see whether it can have
  /// them, and signals.
  ///
  /// - Parameters:
  ///   - program: The commands.
  ///   - lenderTransport: Reaches the lender of borrowed tokens.
  ///   - storeTransport: Makes what sends requests, for stores that need it.
  ///   - wait: Keeps the main thread.
  static func run(
    _ program: (some AsyncParsableCommand).Type, lenderTransport: @escaping LenderTransport,
    storeTransport: @escaping StoreOptions.TransportSource,
    wait: (Task<Never, Never>) -> Never
  ) -> Never {
    do {
      try ProcessSetup.run()
    } catch {
      Failure.exit(with: error)
    }
    StoreOptions.reachLenders(by: lenderTransport)
    StoreOptions.transportSource.withLock { $0 = storeTransport }
    wait(Task.detached { await run(program) })
  }

  private static func run(_ program: (some AsyncParsableCommand).Type) async -> Never {
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
    exit(EXIT_SUCCESS)
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
