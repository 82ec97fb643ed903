import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient

struct Shim: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shim",
    abstract: "Install stand-ins for az and azd.",
    discussion: """
      The Azure SDKs run "az account get-access-token" and "azd auth token" to get tokens. A stand-in is a \
      shell script that runs "llavero token" for these. Without a subcommand the stand-ins are listed.
      """,
    subcommands: [Install.self, Remove.self, List.self], defaultSubcommand: List.self)

  struct Install: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "install",
      abstract: "Install a stand-in for az or azd.",
      discussion: """
        The script requests a token for Azure Resource Manager, or for the resource or scope of the call. It \
        ignores a subscription; --tenant chooses the tenant. If no account is signed in, it says so in the words \
        for which the SDKs try their next credential, and only then. Other calls go to the next az or azd on \
        PATH, and fail without one. The script runs this llavero: install it again when that moves. A file that \
        is not a stand-in is not replaced.

        Example:
          llavero shim install az

        JSON: path, found (the program that PATH finds; missing without one).
        """)

    @Argument(help: "The program to replace.")
    var program: ShimProgram

    @OptionGroup var location: ShimDirectory
    @OptionGroup var output: OutputOptions
    @OptionGroup(title: "Broker options") var broker: BrokerOptions

    func run() throws {
      let path = try location.path(of: program)
      let advice = "Choose another directory with --directory."
      guard FileStatus(path) == nil || program.isStandIn(path) else {
        throw Failure("exists", "\(path) already exists and is not a stand-in.", advice: advice)
      }
      try requireOwnHome(for: path)
      // With the user's own mode: other users may run it.
      try? FileManager.default.createDirectory(
        atPath: parentDirectory(of: path), withIntermediateDirectories: true)
      try writeFile(path, Array(program.script(broker.named).utf8), mode: 0o755, advice: advice)
      let found = programFile(program.rawValue)
      if output.json { return try Terminal.out(["path": path, "found": found]) }
      Terminal.out("Installed \(printable(path)).")
      guard found != programFile(path) else { return }
      let reason =
        found.map { "PATH finds \($0) first." } ?? "\(parentDirectory(of: path)) is not in PATH."
      Terminal.warn("\(reason) Put \(parentDirectory(of: path)) first.")
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove a stand-in for az or azd.",
      discussion: """
        Removes the script of "llavero shim install" and no other file.

        Example:
          llavero shim remove az

        JSON: path, found (the program that PATH finds now; missing without one).
        """)

    @Argument(help: "The program whose stand-in to remove.")
    var program: ShimProgram

    @OptionGroup var location: ShimDirectory
    @OptionGroup var output: OutputOptions

    func run() throws {
      let path = try location.path(of: program)
      let status = FileStatus(path)
      guard status?.isRegular == true, program.isStandIn(path) else {
        throw Failure(
          status == nil ? "not_found" : "foreign",
          status == nil
            ? "\(path) does not exist." : "\(path) was not removed: it is not a stand-in by llavero.",
          advice: "\"llavero shim list\" lists the stand-ins.")
      }
      try removeFile(path)
      if output.json { return try Terminal.out(["path": path, "found": programFile(program.rawValue)]) }
      Terminal.out("Removed \(printable(path)).")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the installed stand-ins.",
      discussion: """
        Searches ~/.local/bin and the directories of PATH.

        Example:
          llavero shim list

        JSON: shims: [program (az or azd), path, state (ok, or other_program where PATH finds another program \
        first), found (the program that PATH finds; missing without one)].
        """)

    @OptionGroup var output: OutputOptions

    func run() throws {
      let environment = processEnvironment()
      var directories = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
      if let own = ShimDirectory.default { directories.insert(own, at: 0) }
      var shims: [(program: String, path: String, found: String?, isFound: Bool)] = []
      for program in ShimProgram.allCases {
        let found = programFile(program.rawValue)
        for directory in directories {
          let path = "\(directory)/\(program.rawValue)"
          guard program.isStandIn(path), !shims.contains(where: { $0.path == path }) else { continue }
          shims.append((program.rawValue, path, found, found == programFile(path)))
        }
      }
      if output.json {
        let list = shims.map { shim -> Members in
          [
            "program": shim.program, "path": shim.path, "state": shim.isFound ? "ok" : "other_program",
            "found": shim.found,
          ]
        }
        return try Terminal.out(["shims": list])
      }
      guard !shims.isEmpty else { return Terminal.note("No stand-in is installed.") }
      Table.print(
        ["PROGRAM", .init("STATE", minimum: 16) { $0 == "ok" ? nil : .yellow }, .init("PATH", minimum: 16)],
        rows: shims.map { shim in
          [shim.program, shim.isFound ? "ok" : "PATH finds \(shim.found ?? "no program")", shim.path]
        })
    }
  }
}

struct ShimDirectory: ParsableArguments {
  @Option(help: "The directory of the stand-in (default: ~/.local/bin).", completion: .directory)
  var directory: String?

  func validate() throws {
    guard directory != "" else { throw ValidationError("Name a directory with --directory.") }
  }

  static var `default`: String? {
    processEnvironment()["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.local/bin" }
  }

  func path(of program: ShimProgram) throws(Failure) -> String {
    if let directory = directory ?? Self.default { return "\(directory)/\(program.rawValue)" }
    throw Failure("no_home", "HOME is not set.", code: .usage, advice: "Name a directory with --directory.")
  }
}

/// A program that the Azure SDKs get tokens from.
enum ShimProgram: String, Choice {
  case az, azd

  /// The second line of each script, the same in all versions.
  private static let mark = #"# A stand-in made by "llavero shim install". Remove this file to be rid of it."#

  /// Whether this or an earlier version wrote the file. Another user's file is not one.
  func isStandIn(_ path: String) -> Bool {
    let contents = (try? readPrivateFile(path, limit: 1 << 16, openToOthers: true)) ?? []
    return String(decoding: contents, as: UTF8.self).split(separator: "\n").dropFirst().first
      == Substring(Self.mark)
  }

  /// The script reads its arguments from the front and appends the options of llavero behind them.
  fileprivate func script(_ broker: BrokerPolicy?) -> String {
    let (parts, broker) = (parts, broker.map { " --broker " + $0.rawValue } ?? "")
    let llavero = shellQuoted(executableFile() ?? "llavero")
    return #"""
      #!/bin/sh
      \#(Self.mark)

      # Returns where the call is not for a token, or has an option without an equivalent.
      answer() {
        shift 2
        left=$# form=json query= scoped= last=
        while [ "$left" -gt 0 ]; do
          option=$1
          shift
          left=$((left - 1))
          case $option in
            \#(parts.flag)) continue ;;
            --*=* | -?=*) value=${option#*=} option=${option%%=*} ;;
            -[!-]?*) value=${option#-?} option=${option%"$value"} ;;
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
            --claims) set -- "$@" --claims "$value" ;;
      \#(parts.options)
            *) return ;;
          esac
        done
        set -f
        IFS=', '
        list=$query
        case $query in "["*"]") list=${query#?} list=${list%?} ;; esac
        for name in $list; do
          case $name in \#(AzureQuery.members.joined(separator: " | "))) ;; *) return ;; esac
        done
        [ -z "$query" ] || set -- "$@" --query "$query"
        case $form in
          json) ;;
          tsv) [ "$query" ] || return; set -- "$@" --tsv ;;
          *) return ;;
        esac
        [ "$scoped" ] || set -- "$@" --scope '\#(Self.manager)/.default'
        exec \#(llavero) token --stand-in \#(rawValue) --output \#(rawValue)\#(broker) "$@"
      }

      [ "$1 $2" != "\#(parts.call)" ] || answer "$@"

      # Other calls go to the next program of this name.
      set -f
      IFS=:
      for directory in $PATH; do
        file=${directory:-.}/\#(rawValue)
        [ -f "$file" ] && [ -x "$file" ] || continue
        { read -r line; read -r line; } <"$file"
        [ "$line" = '\#(Self.mark)' ] || exec "$file" "$@"
      done
      echo "\#(rawValue): This stand-in by Llavero only handles \"\#(rawValue) \#(parts.call)\", and there is no other \#(rawValue) on PATH." >&2
      # The SDKs name a command "az login --claims-challenge BASE64".
      claims= last=
      for word; do
        [ "$last" != --claims-challenge ] || word=--claims-challenge=$word
        case $word in
          --claims-challenge=*[!A-Za-z0-9+/=_-]*) ;;
          --claims-challenge=*) claims=" --claims ${word#*=}" ;;
        esac
        last=$word
      done
      echo "To sign in for it, run \"llavero login$claims\"." >&2
      exit 2

      """#
  }

  /// Azure Resource Manager, as these tools name it.
  private static let manager = "https://management.core.windows.net/"

  /// The words by which the Azure SDKs know that no account is signed in, and try the next credential.
  var notSignedIn: String {
    switch self {
    case .az: "Please run 'az login' to setup account."
    case .azd: "not logged in, run `azd auth login` to login."
    }
  }

  /// What differs between the scripts: the call; the options without a value, none of which changes the output; and what is done
  /// about other options.
  private var parts: (call: String, flag: String, options: String) {
    switch self {
    case .az:
      (
        "account get-access-token", "--only-show-errors | --verbose | --debug",
        #"""
              --query) query=$value ;;
              --resource) set -- "$@" --scope "$value/.default"; scoped=1 ;;
              --resource-type)
                case $value in
                  aad-graph) value=https://graph.windows.net/ ;;
                  arm) value=\#(Self.manager) ;;
                  batch) value=https://batch.core.windows.net/ ;;
                  data-lake) value=https://datalake.azure.net/ ;;
                  media) value=https://rest.media.azure.net ;;
                  ms-graph) value=https://graph.microsoft.com ;;
                  oss-rdbms) value=https://ossrdbms-aad.database.windows.net ;;
                  *) return ;;
                esac
                set -- "$@" --scope "$value/.default"
                scoped=1
                ;;
              --tenant | -t) set -- "$@" --tenant "$value" ;;
              --subscription | -s) ;;
        """#
      )
    case .azd:
      (
        "auth token", "--no-prompt | --debug",
        #"      --tenant-id) set -- "$@" --tenant "$value" ;;"#
      )
    }
  }
}
