import ArgumentParser
import GLibSupport
import Glibc
import IdentityClient

struct Shim: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shim",
    abstract: "Stand-ins for az and azd, for programs that get their tokens there.",
    subcommands: [Install.self])

  struct Install: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "install",
      abstract: "Put a stand-in for az or azd into a directory.",
      discussion: """
        The Azure SDKs ask "az account get-access-token" and "azd auth token" for tokens. The stand-in is a \
        small shell script that answers just that with "llavero token", and anything else with an error. It \
        runs this llavero: install it again when that moves. A file that is there and not a stand-in is left \
        alone. To be rid of it, remove the file.

        Example:
          llavero shim install az

        JSON: path.
        """)

    private struct Result: Encodable {
      let path: String
    }

    @Argument(help: "Which program to stand in for.")
    var program: ShimProgram

    @Option(help: "Where to; ~/.local/bin unless another directory is given.")
    var directory: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var broker: BrokerOptions

    func validate() throws {
      guard directory != "" else { throw ValidationError("Name a directory with --directory.") }
    }

    func run() throws {
      let path = try program.install(
        in: directory ?? (try Self.ownDirectory), broker: broker.named)
      if output.json { return Terminal.out(try json(Result(path: path))) }
      Terminal.out("Installed \(printable(path)).")
    }

    private static var ownDirectory: String {
      get throws(Failure.Message) {
        if let home = processEnvironment()["HOME"], !home.isEmpty { return home + "/.local/bin" }
        throw Failure.Message(
          code: .usage, name: "no_home", message: "HOME is not set.",
          advice: "Name a directory with --directory.")
      }
    }
  }
}

/// A program that the Azure SDKs get tokens from.
enum ShimProgram: String, ExpressibleByArgument, CaseIterable {
  case az, azd

  private static let mark = #"# A stand-in made by "llavero shim install". Remove this file to be rid of it."#

  /// Writes the script, in place of one that was written before.
  ///
  /// - Returns: Where it is.
  /// - Throws: `Failure.Message`, where another file is in the way, or none can be written.
  func install(in directory: String, broker: BrokerPolicy?) throws(Failure.Message) -> String {
    let path = "\(directory)/\(rawValue)"
    guard FileStatus(path) == nil || isStandIn(path) else {
      throw Failure.Message(
        name: "exists", message: "\(path) is there already, and is no stand-in.",
        advice: "Choose another directory with --directory.")
    }
    guard replaceFile(path, with: Array(script(broker).utf8).span, mode: 0o755) else {
      throw Failure.Message(
        name: "not_writable", message: "\(path) cannot be written: \(systemReason()).",
        advice: "Make the directory, or choose another with --directory.")
    }
    return path
  }

  private func isStandIn(_ path: String) -> Bool {
    let contents = (try? readPrivateFile(path, limit: 1 << 16, openToOthers: true)) ?? []
    return String(decoding: contents, as: UTF8.self).split(separator: "\n").contains(Substring(Self.mark))
  }

  /// Takes the arguments one by one from the front, and puts those of llavero behind them.
  private func script(_ broker: BrokerPolicy?) -> String {
    let broker = broker.map { " --broker " + $0.rawValue } ?? ""
    let llavero = (executableFile() ?? "llavero").replacing("'", with: #"'\''"#)
    return #"""
      #!/bin/sh
      \#(Self.mark)
      refuse() {
        echo "\#(rawValue): This stand-in by Llavero answers \"\#(rawValue) \#(call)\" only, not: $1" >&2
        exit 2
      }
      [ "$1 $2" = "\#(call)" ] || refuse "$1 $2"
      shift 2
      left=$#
      while [ "$left" -gt 0 ]; do
        case $1 in
      \#(options)
          *) refuse "$1" ;;
        esac
        shift "$taken"
        left=$((left - taken))
      done
      exec '\#(llavero)' token --output \#(rawValue)\#(broker) "$@"

      """#
  }

  private var call: String {
    switch self {
    case .az: "account get-access-token"
    case .azd: "auth token"
    }
  }

  private var options: String {
    switch self {
    case .az:
      #"""
          --output | -o) [ "$2" = json ] || refuse "$1 $2"; taken=2 ;;
          --resource) set -- "$@" --scope "$2/.default"; taken=2 ;;
          --scope | --tenant) set -- "$@" "$1" "$2"; taken=2 ;;
          -t) set -- "$@" --tenant "$2"; taken=2 ;;
      """#
    case .azd:
      #"""
          --output | -o) [ "$2" = json ] || refuse "$1 $2"; taken=2 ;;
          --no-prompt) taken=1 ;;
          --scope) set -- "$@" "$1" "$2"; taken=2 ;;
          --tenant-id) set -- "$@" --tenant "$2"; taken=2 ;;
      """#
    }
  }
}
