import ArgumentParser
import FoundationEssentials
import Glibc
import TokenCache

/// How the tool ends when something is in the way.
enum Failure {
  /// The exit codes that the help text documents.
  enum Code: Int32 {
    case error = 1
    case usage = 2
    case interactionRequired = 3
    case cancelled = 5
  }

  /// Something the person has to know, in the tool's own words.
  struct Message: Error {
    var code = Code.error
    /// A stable name for programs.
    let name: String
    let message: String
    var advice: String?
  }

  private struct Report: Encodable {
    struct Body: Encodable {
      let code: String
      let message: String
      let advice: String?
    }
    let error: Body
  }

  /// Prints what went wrong to standard error and ends the process.
  static func exit(with error: any Error) -> Never {
    switch error {
    case let error as CacheError:
      exit(
        with: Message(
          code: exitCode(of: error.code), name: error.code.rawValue, message: error.message,
          advice: error.code == .locked ? unlockAdvice : error.advice))
    case let message as Message: exit(with: message)
    default: exit(withParserError: error)
    }
  }

  private static let unlockAdvice = "Unlock it, or run the command again with --unlock to be asked."
  private static let wantsJSON = CommandLine.arguments.contains("--json")

  /// Ends the process as the argument parser says: help and completion scripts come as errors, too.
  private static func exit(withParserError error: any Error) -> Never {
    let code = Llavero.exitCode(for: error)
    if code == .validationFailure && wantsJSON {
      exit(
        with: Message(
          code: .usage, name: "usage", message: Llavero.message(for: error),
          advice: "Add --help to see how the command is used."))
    }
    let text = Llavero.fullMessage(for: error)
    if code.isSuccess {
      Terminal.out(text)
    } else {
      text.split(separator: "\n").forEach { Terminal.error(printable(String($0))) }
    }
    Glibc.exit(code == .validationFailure ? Code.usage.rawValue : code.rawValue)
  }

  private static func exit(with message: Message) -> Never {
    if wantsJSON {
      let body = Report.Body(code: message.name, message: message.message, advice: message.advice)
      Terminal.error((try? json(Report(error: body))) ?? message.message)
    } else {
      Terminal.error("llavero: " + printable(message.message))
      if let advice = message.advice { Terminal.error(printable(advice)) }
    }
    Glibc.exit(message.code.rawValue)
  }

  private static func exitCode(of code: CacheError.Code) -> Code {
    switch code {
    case .locked: .interactionRequired
    case .promptDismissed, .cancelled: .cancelled
    case .invalidGroup: .usage
    case .invalidResponse, .damaged, .newerVersion, .tooLarge, .unavailable, .timedOut, .refused: .error
    }
  }
}
