import ArgumentParser
import GLibSupport

struct Scheme: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scheme",
    abstract: "Register a handler for an app's redirect URI scheme.",
    discussion: """
      With a redirect URI such as msauth.com.example.mail://auth, the browser hands its response to the \
      desktop, which starts the app's program with it. The handler is for your user only. Without a \
      subcommand the handlers are listed.
      """,
    subcommands: [Install.self, Remove.self, List.self], defaultSubcommand: List.self)

  struct Install: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "install",
      abstract: "Register a program as the handler of a scheme.",
      discussion: """
        Writes a desktop file into $XDG_DATA_HOME/applications and puts it first in \
        $XDG_CONFIG_HOME/mimeapps.list. The program is started with the arguments and the redirect URI, and \
        passes it on to the process that waits for it. Another handler is only replaced with --replace; \
        "llavero scheme remove" restores it. Run the command again when the program moves.

        Examples:
          llavero scheme install msauth.com.example.mail /opt/example/mail
          llavero scheme install msauth.com.example.mail /opt/mail -- --profile work

        JSON: scheme, program, arguments, path, warnings.
        """)

    @Argument(help: "The scheme, or a redirect URI that begins with it.")
    var scheme: OwnScheme

    @Argument(help: "The program.", completion: .file())
    var program: String

    @Argument(help: "Arguments of the program, before the redirect URI.")
    var arguments: [String] = []

    @Option(help: "The name that the browser shows (default: the file's name).")
    var name: String?

    @Flag(help: "Replace another program's handler.")
    var replace = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard !scheme.isReserved else {
        throw ValidationError(
          "\(scheme.name) is not a scheme of an app. "
            + "Use a scheme of the app's own, such as msauth.com.example.mail.")
      }
      let words = ([program, name ?? "-"] + arguments).joined()
      let hasControls = words.unicodeScalars.contains { $0.properties.generalCategory == .control }
      guard !hasControls, name != "" else {
        throw ValidationError("A desktop file has no control characters and no empty name.")
      }
    }

    func run() throws {
      guard let file = programFile(program), !file.contains(where: { "=%".contains($0) }) else {
        throw Failure(
          "no_program", "\(program) cannot be started by a desktop file.", code: .usage,
          advice: "Name an executable file whose path contains neither \"=\" nor \"%\".")
      }
      let entry = SchemeEntry(
        scheme: scheme.name, program: file, arguments: arguments,
        name: name ?? file.split(separator: "/").last.map { String($0) } ?? file)
      let lock = try Self.lock()
      defer { lock.release() }
      let existing = try SchemeEntry(existing: scheme.name)
      try SchemeDefaults.checkLists()
      // Where the installed program has moved, the desktop uses another handler.
      let hasMoved = existing.map { programFile($0.program) == nil } ?? false
      if !replace, !hasMoved, let handler = SchemeHandler(of: scheme.name),
        handler.id != SchemeHandler.ownID(of: scheme.name)
      {
        throw Failure(
          "taken", "\(scheme.name) already has another handler: \(handler.id).",
          advice: "Replace it with --replace, until \"llavero scheme remove \(scheme.name)\".")
      }
      let path = SchemeEntry.path(of: scheme.name)
      try writeFile(path, Array(entry.text.utf8))
      do throws(Failure) {
        try SchemeDefaults.change(scheme.name, isInstalled: true)
      } catch {
        if existing == nil { try? removeFile(path) }
        throw error
      }
      let warning =
        scheme.name.contains(where: \.isNumber)
        ? "xdg-open 1.1 mistakes a scheme with digits for a file. Desktops such as GNOME do not use it."
        : nil
      if output.json {
        return try Terminal.out([
          "scheme": scheme.name, "program": file, "arguments": arguments, "path": path,
          "warnings": warning.map { [$0] },
        ])
      }
      if let warning { Terminal.warn(warning) }
      Terminal.out(printable("\(scheme.name) is handled by \(file), registered in \(path)."))
    }

    /// Takes the lock for changes of the lists.
    static func lock() throws(Failure) -> HeldLockFile {
      do throws(PrivateFileError) {
        return try HeldLockFile(
          directory: RuntimeDirectory(environment: processEnvironment()).path, name: "schemes.lock")
      } catch {
        throw Failure("unavailable", "\(error)")
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove the handler of a scheme.",
      discussion: """
        Removes what "llavero scheme install" wrote and nothing else. The earlier handler is used again.

        Example:
          llavero scheme remove msauth.com.example.mail

        JSON: scheme, path.
        """)

    @Argument(help: "The scheme, or a redirect URI that begins with it.")
    var scheme: OwnScheme

    @OptionGroup var output: OutputOptions

    func run() throws {
      let lock = try Install.lock()
      defer { lock.release() }
      let isInstalled = try SchemeEntry(existing: scheme.name) != nil
      // Also where the desktop file was removed by hand.
      try SchemeDefaults.change(scheme.name, isInstalled: false)
      guard isInstalled else {
        throw Failure(
          "not_found", "\(scheme.name) was not installed.",
          advice: "\"llavero scheme list\" lists the installed handlers.")
      }
      let path = SchemeEntry.path(of: scheme.name)
      try removeFile(path)
      if output.json { return try Terminal.out(["scheme": scheme.name, "path": path]) }
      Terminal.out(printable("Removed \(path)."))
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the registered handlers.",
      discussion: """
        Example:
          llavero scheme list

        JSON: schemes: [scheme, program, arguments, path, handler (the desktop file in effect), state (ok, \
        program_missing, or other_handler where another desktop file is in effect)].
        """)

    private typealias Line = (entry: SchemeEntry, handler: String?, state: String, description: String)

    @OptionGroup var output: OutputOptions

    func run() throws {
      try SchemeDefaults.checkLists()
      let lines = SchemeEntry.installed.compactMap { scheme -> Line? in
        // Another user's file is not listed.
        guard let entry = try? SchemeEntry(existing: scheme) else { return nil }
        let handler = SchemeHandler(of: scheme)?.id
        if programFile(entry.program) == nil { return (entry, handler, "program_missing", "program missing") }
        let isOwn = handler == SchemeHandler.ownID(of: scheme)
        return (
          entry, handler, isOwn ? "ok" : "other_handler",
          isOwn ? "ok" : "handled by \(handler ?? "no program")"
        )
      }
      if output.json {
        let schemes = lines.map { entry, handler, state, _ -> Members in
          [
            "scheme": entry.scheme, "program": entry.program, "arguments": entry.arguments,
            "path": SchemeEntry.path(of: entry.scheme), "handler": handler, "state": state,
          ]
        }
        return try Terminal.out(["schemes": schemes])
      }
      guard !lines.isEmpty else { return Terminal.note("No handler is registered.") }
      Table.print(
        [
          .init("SCHEME", minimum: 16), .init("STATE") { $0 == "ok" ? nil : .yellow },
          .init("PROGRAM", minimum: 16),
        ],
        rows: lines.map { entry, _, _, state in
          [entry.scheme, state, ([entry.program] + entry.arguments).joined(separator: " ")]
        })
    }
  }
}
