import Dispatch
public import FoundationEssentials
import GLibSupport
import Glibc
public import IdentityClient

/// The browser that the person uses, found as the desktop's own tools find it.
public struct SystemBrowser: Sendable {
  /// Gets what a command prints.
  public typealias Output = @Sendable ([UInt8]) -> Void

  private let environment: [String: String]
  private let output: Output?
  private let isWindowsSubsystem: Bool
  /// The one command that opens a private window, in a browser that is for those.
  private var privateCommand: [String]?

  /// How long a command is watched. One that still runs then is the browser itself. Only tests change it.
  var watchTime = Duration.seconds(3)

  /// - Parameters:
  ///   - environment: The process's environment.
  ///   - output: Gets what the command of `BROWSER` writes to its standard output, which may be the address itself, on
  ///     any thread and as long as the command runs.
  public init(
    environment: [String: String] = ProcessInfo.processInfo.environment, output: Output? = nil
  ) {
    self.environment = environment
    self.output = output
    let release = (try? Data(contentsOf: URL(filePath: "/proc/sys/kernel/osrelease"))) ?? Data()
    isWindowsSubsystem = String(decoding: release, as: UTF8.self).lowercased().contains("microsoft")
  }

  /// Whether there is anything to open a page with: a desktop, or `$BROWSER`.
  public var isAvailable: Bool {
    isWindowsSubsystem
      || ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
  }

  /// The first program that can be started to open a page; `nil` if no program is found.
  package var program: String? {
    guard isAvailable else { return nil }
    return commands(for: "").lazy.map { $0[0] }.first { programFile($0) != nil }
  }

  /// Opens a page. The browser becomes a process of its own session, so that it outlives the program. All users of the
  /// machine can read the address among its arguments.
  ///
  /// - Returns: `false` where a command was started and failed. That is no proof: some open the page, and report an error. No
  ///   other command is tried then, since it could open the page a second time.
  /// - Throws: `IdentityError.Code.browserUnavailable` where no browser was started.
  @discardableResult
  public func open(_ url: URL) async throws(IdentityError) -> Bool {
    guard ["http", "https"].contains(url.scheme?.lowercased() ?? "") else {
      throw IdentityError(.browserUnavailable, "Only web pages are opened.")
    }
    guard environment["SUDO_USER"] == nil || geteuid() != 0 else {
      throw IdentityError(
        .browserUnavailable, "A browser is not started as root for another user.",
        advice: "Run the program without sudo, or open the page in a browser elsewhere.")
    }
    if isAvailable {
      for (index, command) in commands(for: url.absoluteString).enumerated() {
        if let isGood = await run(command, output: index < own.count ? output : nil) { return isGood }
      }
    }
    throw IdentityError(
      .browserUnavailable, "No browser could be started.",
      advice: "Set BROWSER, or open the page in a browser elsewhere.")
  }

  /// Returns the browser as one that opens each page in a private window, which has none of its sessions and is forgotten
  /// afterwards.
  ///
  /// It is found out which browser would be started: the first of `$BROWSER`, else the one that the desktop has for
  /// https. Firefox, Chromium, Chrome, Edge, Brave, Vivaldi, Opera and GNOME Web are asked by their own switches.
  ///
  /// - Returns: `nil` for another browser, and where none is known. The page could only open in the person's own session.
  public func privateWindow() async -> SystemBrowser? {
    var browser = self
    if let first = own.first {
      browser.privateCommand = PrivateWindow.command(asking: first)
    } else if !isWindowsSubsystem {
      let handler = try? await RedirectScheme.handler(of: "https")
      browser.privateCommand = handler.flatMap { PrivateWindow.command(asking: $0.command) }
    }
    return browser.privateCommand == nil ? nil : browser
  }

  /// The commands to try, in this order: those of `$BROWSER`, then the desktop's.
  func commands(for address: String) -> [[String]] {
    let desktop = [["xdg-open", "%s"], ["gio", "open", "%s"]]
    let windows = isWindowsSubsystem ? [["wslview", "%s"], ["explorer.exe", "%s"]] : []
    let commands = privateCommand.map { [$0] } ?? own + desktop + windows
    return commands.map { command in command.map { $0.replacing("%s", with: address) } }
  }

  /// The commands of `$BROWSER`, with `%s` where the address goes. The path of a program may have spaces, as on Windows.
  private var own: [[String]] {
    (environment["BROWSER"] ?? "").split(separator: ":").compactMap { entry in
      var words = entry.split(separator: " ").map(String.init)
      if words.last == "&" { words.removeLast() }
      for count in stride(from: words.count, to: 0, by: -1) {
        let path = words[..<count].joined(separator: " ").filter { !"\"'".contains($0) }
        guard programFile(path) != nil else { continue }
        words.replaceSubrange(..<count, with: [path])
        break
      }
      guard !words.isEmpty else { return nil }
      return words.contains { $0.contains("%s") } ? words : words + ["%s"]
    }
  }

  /// Starts a command without a shell, with its streams at /dev/null except an output that is read.
  ///
  /// - Returns: Whether it runs, or ended well; `nil` where no browser was started.
  private func run(_ command: [String], output: Output?) async -> Bool? {
    let pipe = output == nil ? nil : openPipe()
    let started = try? ChildProcess(
      command, environment: environment, output: pipe?.writing, survivesReader: pipe != nil)
    if let pipe, let output {
      close(pipe.writing)
      Self.relay(pipe.reading, to: output)
    }
    guard let process = started else { return nil }
    let watch = BoundedCall<Int32, IdentityError>(
      timeout: watchTime, onCancel: .cancelled, onTimeout: .cancelled)
    // This waits to the end even if the result is not needed any more: a child that is not waited for stays a zombie.
    DispatchQueue(label: "llavero.browser").async {
      watch.finish(.success(process.wait()))
    }
    guard let status = try? await watch.run({ _ in }) else { return true }
    switch (command[0].split(separator: "/").last?.lowercased(), status) {
    // Windows' own file manager says 1 when all is well.
    case (_, 0), ("explorer.exe", 1): return true
    // What a shell says of a missing program; what xdg-open and gio say when they started none.
    case (_, 126), (_, 127), ("xdg-open", 1...3), ("gio", _): return nil
    default: return false
    }
  }

  /// Passes on what comes out of a pipe until its other end is closed. It takes a thread: with a dispatch source, which does
  /// not, libdispatch has crashed, since its event loop can use a source's memory after the source was cancelled.
  private static func relay(_ pipe: Int32, to output: @escaping Output) {
    DispatchQueue(label: "llavero.browser.output").async {
      defer { close(pipe) }
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(pipe, &buffer, buffer.count)
        if count > 0 {
          output(Array(buffer[..<count]))
        } else if count == 0 || errno != EINTR {
          return
        }
      }
    }
  }
}
