import FoundationEssentials
import GLibSupport
import Glibc

/// xdg-desktop-portal on the bus of a `PrivateKeyring`, with gnome-keyring as the backend for secrets.
public final class DesktopPortal: Sendable {
  public static let isInstalled = access(program, X_OK) == 0

  private static let program = "/usr/libexec/xdg-desktop-portal"
  private static let backend = "/usr/share/xdg-desktop-portal/portals/gnome-keyring.portal"
  private let child: Child
  private let bus: BusConnection

  /// Starts it and waits until it has its name.
  public init(on keyring: PrivateKeyring, withBackend: Bool = true) throws {
    let directory = keyring.directory + "/portals"
    try? FileManager.default.removeItem(atPath: directory)
    mkdir(directory, 0o700)
    if withBackend {
      try FileManager.default.copyItem(atPath: Self.backend, toPath: directory + "/gnome-keyring.portal")
    }
    let own = [
      "XDG_DESKTOP_PORTAL_DIR": directory, "XDG_CURRENT_DESKTOP": "gnome", "GSETTINGS_BACKEND": "memory",
      // It ends where it finds no settings of the desktop.
      "GSETTINGS_SCHEMA_DIR": "/usr/share/glib-2.0/schemas",
    ]
    let log = keyring.directory + "/portal.log"
    child = try Child(Self.program, [], environment: keyring.environment.merging(own) { $1 }, log: log)
    let cancellable: Cancellable
    (bus, cancellable) = try keyring.connect()
    while !cancellable.isPastDeadline, !child.hasEnded {
      if hasName { return }
      usleep(1000)
    }
    throw SetUpFailure("xdg-desktop-portal did not start", log: log)
  }

  deinit { stop() }

  /// Ends it, and waits until its name is free.
  public func stop() {
    // Another one may have the name since.
    if child.hasEnded { return }
    child.end()
    while hasName { usleep(1000) }
  }

  private var hasName: Bool {
    let name = Variant.string("org.freedesktop.portal.Desktop")
    let cancellable = Cancellable(timeout: .seconds(120))
    return (try? bus.ask("NameHasOwner", [name], reply: "(b)", cancellable)?.boolean) == true
  }
}

/// A sandbox as Flatpak makes one: portals know an application in it by the file `.flatpak-info` at its root.
public struct Sandbox: Sendable {
  /// Whether bubblewrap can make one here.
  public static let isPossible: Bool = {
    guard let files = try? TemporaryDirectory(),
      let sandbox = try? Sandbox("org.example.Probe", in: files.path)
    else { return false }
    let end = try? Child.run("bwrap", sandbox.arguments + ["true"])
    return end?.status == 0
  }()

  private let arguments: [String]

  /// - Parameters:
  ///   - application: The application's id.
  ///   - directory: Where its description is kept.
  /// - Throws: ``SetUpFailure`` when the description cannot be written.
  public init(_ application: String, in directory: String) throws {
    let info = "\(directory)/\(application).info"
    try PrivateKeyring.write(
      "[Application]\nname=\(application)\n\n[Instance]\ninstance-id=1\n", to: info)
    // A root of its own: a mount point for the file in the machine's would stay there.
    var arguments = ["--unshare-pid", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    for name in try FileManager.default.contentsOfDirectory(atPath: "/").sorted() {
      var status = stat()
      let path = "/" + name
      guard !["proc", "dev", "tmp"].contains(name), lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        arguments += ["--symlink", try FileManager.default.destinationOfSymbolicLink(atPath: path), path]
      case S_IFDIR: arguments += ["--ro-bind", path, path]
      default: break
      }
    }
    self.arguments = arguments + ["--bind", "/tmp", "/tmp", "--ro-bind", info, "/.flatpak-info", "--"]
  }

  /// Runs a program in it to its end.
  public func run(
    _ program: String, _ arguments: [String], environment: [String: String], input: String = ""
  ) throws -> Child.Result {
    try Child.run("bwrap", self.arguments + [program] + arguments, environment: environment, input: input)
  }
}
