import ArgumentParser
import FoundationEssentials
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
        small shell script that answers just that with "llavero token", for Azure Resource Manager unless a \
        resource or scope is named. A subscription that is named changes nothing: --tenant says whose token \
        it is. All else goes to the real az or azd behind it on PATH, and is an error where there is none. It \
        runs this llavero: install it again when that moves. A file that is there and not a stand-in is left \
        alone. To be rid of it, remove the file.

        Example:
          llavero shim install az

        JSON: path, found (the program that PATH leads to; left out where it leads to none).
        """)

    private struct Result: Encodable {
      let path: String
      let found: String?
    }

    @Argument(help: "Which program to stand in for.")
    var program: ShimProgram

    @Option(help: "Where to, made if it is missing; ~/.local/bin unless another directory is given.")
    var directory: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var broker: BrokerOptions

    func validate() throws {
      guard directory != "" else { throw ValidationError("Name a directory with --directory.") }
    }

    func run() throws {
      let path = try program.install(
        in: directory ?? (try Self.ownDirectory), broker: broker.named)
      let found = programFile(program.rawValue)
      if output.json { return Terminal.out(try json(Result(path: path, found: found))) }
      Terminal.out("Installed \(printable(path)).")
      guard found != programFile(path) else { return }
      let reason =
        found.map { "PATH leads to \($0) instead." } ?? "\(parentDirectory(of: path)) is not in PATH."
      Terminal.error("warning: " + printable("\(reason) Put \(parentDirectory(of: path)) first."))
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
    try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    guard replaceFile(path, with: Array(script(broker).utf8).span, mode: 0o755) else {
      throw Failure.Message(
        name: "not_writable", message: "\(path) cannot be written: \(systemReason()).",
        advice: "Choose another directory with --directory.")
    }
    return path
  }

  private func isStandIn(_ path: String) -> Bool {
    let contents = (try? readPrivateFile(path, limit: 1 << 16, openToOthers: true)) ?? []
    return String(decoding: contents, as: UTF8.self).split(separator: "\n").contains(Substring(Self.mark))
  }

  /// The options of llavero are put behind the others, which are taken from the front.
  private func script(_ broker: BrokerPolicy?) -> String {
    let broker = broker.map { " --broker " + $0.rawValue } ?? ""
    let llavero = shellQuoted(executableFile() ?? "llavero")
    return #"""
      #!/bin/sh
      \#(Self.mark)

      # Answers a request for a token, unless it has something that llavero does not know.
      answer() {
        shift 2
        left=$# form=json query= scoped= last=
        while [ "$left" -gt 0 ]; do
          option=$1
          shift
          left=$((left - 1))
          case $option in
            \#(flags)) continue ;;
            --*=*) value=${option#*=} option=${option%%=*} ;;
            -*)
              [ "$left" -gt 0 ] || return
              value=$1
              shift
              left=$((left - 1))
              ;;
            *)
              [ "$last" = --scope ] || return
              value=$option option=--scope
              ;;
          esac
          last=$option
          case $option in
            --output | -o) form=$value ;;
            --scope) set -- "$@" --scope "$value"; scoped=1 ;;
      \#(options)
            *) return ;;
          esac
        done
        case "$form $query" in
          "json ") form=\#(rawValue) ;;
          "tsv accessToken") form=bare ;;
          *) return ;;
        esac
        [ "$scoped" ] || set -- "$@" --scope '\#(Self.manager)/.default'
        \#(llavero) token --output "$form"\#(broker) "$@"
        status=$?
        [ "$status" -ne 3 ] || echo \#(notSignedIn) >&2
        exit "$status"
      }

      [ "$1 $2" != "\#(call)" ] || answer "$@"

      # All else is for the program of this name that comes next.
      set -f
      IFS=:
      for directory in $PATH; do
        file=${directory:-.}/\#(rawValue)
        [ -f "$file" ] && [ -x "$file" ] || continue
        { read -r line; read -r line; } <"$file"
        [ "$line" = '\#(Self.mark)' ] || exec "$file" "$@"
      done
      echo "\#(rawValue): This stand-in by Llavero answers \"\#(rawValue) \#(call)\" only, and there is no other \#(rawValue) on PATH." >&2
      exit 2

      """#
  }

  /// Azure Resource Manager as these tools name it.
  private static let manager = "https://management.core.windows.net/"

  private var call: String {
    switch self {
    case .az: "account get-access-token"
    case .azd: "auth token"
    }
  }

  /// The words by which the Azure SDKs know that they should try the next credential, as a word of the shell's.
  private var notSignedIn: String {
    switch self {
    case .az: #""az: Please run 'az login' to setup account. Here, do what is said above.""#
    case .azd: "'azd: not logged in, run `azd auth login` to login. Here, do what is said above.'"
    }
  }

  /// Options without a value that change nothing of the answer.
  private var flags: String {
    switch self {
    case .az: "--only-show-errors"
    case .azd: "--no-prompt"
    }
  }

  private var options: String {
    switch self {
    case .az:
      #"""
            --query) query=$value ;;
            --resource) set -- "$@" --scope "$value/.default"; scoped=1 ;;
            --resource-type)
              case $value in
                arm) set -- "$@" --scope '\#(Self.manager)/.default' ;;
                ms-graph) set -- "$@" --scope https://graph.microsoft.com/.default ;;
                *) return ;;
              esac
              scoped=1
              ;;
            --tenant | -t) set -- "$@" --tenant "$value" ;;
            --subscription | -s) ;;
      """#
    case .azd: #"      --tenant-id) set -- "$@" --tenant "$value" ;;"#
    }
  }
}
