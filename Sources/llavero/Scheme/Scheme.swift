import ArgumentParser
import GLibSupport

struct Scheme: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scheme",
    abstract: "Lead the addresses of an app's own redirect scheme to its program.",
    discussion: """
      An app whose redirect URI is such as msauth.com.example.mail://auth gets the browser's answer from the \
      desktop, which starts the app's program with it. These commands write the desktop file that says so. It \
      is yours alone; other users of the machine need their own.
      """,
    subcommands: [Install.self, Remove.self, List.self])

  struct Install: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "install",
      abstract: "Lead the addresses of a scheme to a program.",
      discussion: """
        Writes a desktop file into $XDG_DATA_HOME/applications and puts it first in \
        $XDG_CONFIG_HOME/mimeapps.list. The program is started with the arguments and the address, which it \
        has to hand over to the process that waits for it. A scheme that leads to a program of somebody \
        else's is left alone unless --replace is given; "llavero scheme remove" gives it back. Run it again \
        when the program moves.

        Examples:
          llavero scheme install msauth.com.example.mail /opt/example/mail
          llavero scheme install msauth.com.example.mail /opt/example/mail --name Mail -- --profile work

        JSON: scheme, program, arguments, path, warnings.
        """)

    private struct Result: Encodable {
      let scheme: String
      let program: String
      let arguments: [String]
      let path: String
      let warnings: [String]?
    }

    @Argument(help: "The scheme, or a redirect URI that begins with it.")
    var scheme: OwnScheme

    @Argument(help: "The program.")
    var program: String

    @Argument(help: "What to start the program with, before the address.")
    var arguments: [String] = []

    @Option(help: "What the browser calls the program when it asks; its file's name unless told otherwise.")
    var name: String?

    @Flag(help: "Take the scheme although it leads to another program.")
    var replace = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard !scheme.isReserved else {
        throw ValidationError("\(scheme.name) is not an app's to take. \(OwnScheme.advice)")
      }
      guard !([program, name ?? "-"] + arguments).contains(where: \.hasControlCharacters), name != "" else {
        throw ValidationError("Control characters and an empty name cannot stand in a desktop file.")
      }
    }

    func run() throws {
      guard let file = programFile(program), !file.contains(where: { "=%".contains($0) }) else {
        throw Failure.Message(
          code: .usage, name: "no_program",
          message: "\(program) is no program that a desktop file can start.",
          advice: "Name an executable file whose path has neither \"=\" nor \"%\".")
      }
      let entry = SchemeEntry(
        scheme: scheme.name, program: file, arguments: arguments,
        name: name ?? file.split(separator: "/").last.map { String($0) } ?? file)
      let lock = try Self.lock()
      defer { lock.release() }
      let existing = try SchemeEntry(existing: scheme.name)
      try SchemeDefaults.checkLists()
      // Where the installed program has moved, the desktop falls back to another.
      let hasMoved = existing.map { programFile($0.program) == nil } ?? false
      if !replace, !hasMoved, let handler = SchemeHandler(of: scheme.name),
        handler.id != SchemeHandler.ownID(of: scheme.name)
      {
        throw Failure.Message(
          name: "taken", message: "\(scheme.name) leads to another program already, by \(handler.id).",
          advice: "--replace takes it, until \"llavero scheme remove \(scheme.name)\".")
      }
      let path = SchemeEntry.path(of: scheme.name)
      try writeFile(path, Array(entry.text.utf8))
      do throws(Failure.Message) {
        try SchemeDefaults.change(scheme.name, leadsToOwn: true)
      } catch {
        if existing == nil { try? removeFile(path) }
        throw error
      }
      let warning =
        scheme.name.contains(where: \.isNumber)
        ? "xdg-open 1.1 takes a scheme with digits for a file. Desktops of their own, such as GNOME, do not use it."
        : nil
      if output.json {
        return Terminal.out(
          try json(
            Result(
              scheme: scheme.name, program: file, arguments: arguments, path: path,
              warnings: warning.map { [$0] })))
      }
      if let warning { Terminal.error("warning: \(warning)") }
      Terminal.out(printable("\(scheme.name) leads to \(file), by \(path)."))
    }

    /// Two at once must not write over each other's change.
    static func lock() throws(Failure.Message) -> HeldLockFile {
      do throws(PrivateFileError) {
        return try HeldLockFile(
          directory: RuntimeDirectory(environment: processEnvironment()).path, name: "schemes.lock")
      } catch {
        throw Failure.Message(name: "unavailable", message: "\(error)")
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Lead the addresses of a scheme where they led before.",
      discussion: """
        Removes what "llavero scheme install" wrote, and nothing else.

        Example:
          llavero scheme remove msauth.com.example.mail

        JSON: scheme, path.
        """)

    private struct Result: Encodable {
      let scheme: String
      let path: String
    }

    @Argument(help: "The scheme, or a redirect URI that begins with it.")
    var scheme: OwnScheme

    @OptionGroup var output: OutputOptions

    func run() throws {
      let lock = try Install.lock()
      defer { lock.release() }
      let isInstalled = try SchemeEntry(existing: scheme.name) != nil
      // Entries of a file that was removed by hand are removed as well.
      try SchemeDefaults.change(scheme.name, leadsToOwn: false)
      guard isInstalled else {
        throw Failure.Message(
          name: "not_found", message: "\(scheme.name) was not installed.",
          advice: "\"llavero scheme list\" shows what was.")
      }
      let path = SchemeEntry.path(of: scheme.name)
      try removeFile(path)
      if output.json { return Terminal.out(try json(Result(scheme: scheme.name, path: path))) }
      Terminal.out(printable("Removed \(path)."))
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the schemes that were installed, and where they lead.",
      discussion: """
        Example:
          llavero scheme list

        JSON: schemes: [scheme, program, arguments, path, handler (the desktop file that counts), state (ok, \
        program_missing, or other_handler where another desktop file counts)].
        """)

    private struct Result: Encodable {
      struct Line: Encodable {
        let scheme: String
        let program: String
        let arguments: [String]
        let path: String
        let handler: String?
        let state: State
      }
      let schemes: [Line]
    }

    enum State: String, Encodable {
      case ok
      case programMissing = "program_missing"
      case otherHandler = "other_handler"
    }

    @OptionGroup var output: OutputOptions

    func run() throws {
      try SchemeDefaults.checkLists()
      let lines = SchemeEntry.installed.compactMap { scheme -> Result.Line? in
        // A file of another user is not changed.
        guard let entry = try? SchemeEntry(existing: scheme) else { return nil }
        let handler = SchemeHandler(of: scheme)
        let state: State =
          programFile(entry.program) == nil
          ? .programMissing : handler?.id == SchemeHandler.ownID(of: scheme) ? .ok : .otherHandler
        return Result.Line(
          scheme: scheme, program: entry.program, arguments: entry.arguments,
          path: SchemeEntry.path(of: scheme), handler: handler?.id, state: state)
      }
      if output.json { return Terminal.out(try json(Result(schemes: lines))) }
      guard !lines.isEmpty else { return Terminal.error("No scheme was installed.") }
      var table = Table([
        .init(title: "SCHEME", minimum: 16), .init(title: "STATE"), .init(title: "PROGRAM", minimum: 16),
      ])
      for line in lines {
        let state =
          switch line.state {
          case .ok: "ok"
          case .programMissing: "the program is gone"
          case .otherHandler: "leads to \(line.handler ?? "no program")"
          }
        table.add([line.scheme, state, ([line.program] + line.arguments).joined(separator: " ")])
      }
      table.print { column, cell in column == 1 && cell != "ok" ? .yellow : nil }
    }
  }
}

extension String {
  fileprivate var hasControlCharacters: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
