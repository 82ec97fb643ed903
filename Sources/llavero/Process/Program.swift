import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient

@main
enum Program {
  /// Runs the command that the command line names, reports what it throws, and ends the process.
  ///
  /// The main thread waits for signals until then. An asynchronous main function would lend that thread to Dispatch,
  /// which takes signals, and descriptors before their number can be checked.
  static func main() {
    let signals = Interruption.block()
    do {
      try ProcessSetup.run()
    } catch {
      Failure.exit(with: error)
    }
    Terminal.announcePrompts()
    EarlyConnection.begin(Array(processArguments.dropFirst()))
    Interruption.wait(for: signals, cancelling: Task.detached { await run() })
  }

  private static func run() async -> Never {
    var parsed: (any ParsableCommand)?
    do {
      if Completion.isRequested { await Completion.run() }
      if try handOverRedirect() { exit(EXIT_SUCCESS) }
      if processArguments.dropFirst().first == "help",
        let topic = try HelpText.topic(processArguments.dropFirst(2))
      {
        Terminal.out(topic)
        exit(EXIT_SUCCESS)
      }
      var command = try parsedCommand()
      parsed = command
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      Failure.exit(with: await explained(error, of: parsed), of: parsed)
    }
    exit(EXIT_SUCCESS)
  }

  /// Adds to an error that no account is signed in where else the group's tokens are.
  private static func explained(_ error: any Error, of command: (any ParsableCommand)?) async -> any Error {
    guard error.isNotSignedIn, let failure = error as? Failure, let command = command as? any GroupCommand
    else { return error }
    return failure.adding(await command.collectionHint())
  }

  /// Passes the address that the desktop started the tool with to the "llavero login" that waits for it: one with an app's
  /// own scheme, for which "llavero scheme install" registered the tool.
  ///
  /// - Throws: `Failure` when no sign-in waits for it.
  private static func handOverRedirect() throws -> Bool {
    guard processArguments.count == 2, processArguments[1].contains(":"),
      let address = URL(string: processArguments[1]), address.isOwnScheme, address.state != nil
    else { return false }
    guard !RedirectHandover.handOver(address) else { return true }
    throw Failure(
      "invalid_state", "No sign-in waits for this response.", advice: "Run \"llavero login\" again.")
  }

  /// Returns the command that the command line names, with its arguments.
  ///
  /// The parser takes milliseconds to set up a tree of commands, so the command is parsed alone. Anything else, such as a
  /// mistake or a request for help, is left to the whole tree.
  private static func parsedCommand() throws -> any ParsableCommand {
    guard !processArguments.isEmpty else {
      // Without arguments the tool prints its help, which a script would take for the output it expects.
      throw Failure(
        "no_arguments", "The command line cannot be read.",
        advice: "Start llavero without preloaded libraries.")
    }
    // Bytes that are not UTF-8 were replaced: a path with them would be another one.
    guard !processArguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else {
      throw Failure(
        "usage", "An argument is not UTF-8, or has the character U+FFFD.", code: .usage,
        advice: "Rename the file, or name it by a path without such characters.")
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
