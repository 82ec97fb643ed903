import CGTK
public import FoundationEssentials

/// No display is available.
public struct NoDisplayError: LocalizedError, CustomStringConvertible {
  public var description: String {
    "There is no display to open a window on. Start the program in a desktop session, or set DISPLAY or WAYLAND_DISPLAY."
  }
  public var errorDescription: String? { description }
}

/// A program with windows in the style of GNOME, dark when the desktop is.
///
/// While it runs, GTK's loop serves `DispatchQueue.main` and the main actor: tasks, completion handlers and
/// `DispatchQueue.main.async` work as in a program for macOS; Foundation's `RunLoop`, and so its `Timer`, do not. Its main
/// function must not be `async`, since Swift's concurrency would then occupy the first thread:
///
/// ```swift
/// @main @MainActor
/// struct Program {
///   static func main() {
///     do {
///       let application = try Application(id: "org.example.Program")
///       exit(application.run { Window(application, title: "Program", width: 640, height: 480).present() })
///     } catch {
///       print(error)
///       exit(1)
///     }
///   }
/// }
/// ```
public final class Application: GTKObject {
  /// - Parameters:
  ///   - id: The program's name in reverse domain order, as in its desktop file.
  ///   - isUnique: Whether a second start activates the first program instead of running beside it. Without a session
  ///     bus every start is independent.
  /// - Throws: ``NoDisplayError``.
  public init(id: String, isUnique: Bool = false) throws(NoDisplayError) {
    // Otherwise GTK ends the process.
    guard gtk_init_check() != 0 else { throw NoDisplayError() }
    let flags = isUnique ? GApplicationFlags(rawValue: 0) : FLAG_G_APPLICATION_NON_UNIQUE
    super.init(taking: adw_application_new(id, flags))
  }

  /// Runs until the last window is closed, or until ``quit()``.
  ///
  /// - Parameter activate: Shows the first window. Called again when a unique
  ///   program is started once more.
  /// - Returns: The exit code.
  public func run(activate: @escaping @MainActor () -> Void) -> Int32 {
    let source = MainQueueSource()
    let handler = connect("activate") { [unowned self] in
      // Without a session bus it has no path there. GTK 4.8 reads the path of the default application regardless, passes
      // the null to the bus of screen readers, and crashes.
      if g_application_get_dbus_object_path(cast()) == nil { g_application_set_default(nil) }
      activate()
    }
    defer { disconnect(handler) }
    return withExtendedLifetime(source) { g_application_run(cast(), 0, nil) }
  }

  /// Ends ``run(activate:)``.
  public func quit() {
    g_application_quit(cast())
  }
}
