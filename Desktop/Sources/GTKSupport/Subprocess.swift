import CGTK

/// Runs a program for its output.
public enum Subprocess {
  /// Runs a program to its end, without blocking the loop. It has no input, and no terminal to ask on, although this
  /// program may have been started in one.
  ///
  /// - Parameter command: The program, as a path or a name on PATH, and its arguments.
  /// - Returns: Its standard output; `nil` if it cannot be started or the output is not UTF-8.
  @MainActor
  public static func output(of command: [String]) async -> String? {
    let words = command.map { strdup($0) }
    defer { words.forEach { free($0) } }
    var pointers = words.map { UnsafePointer($0) } + [nil]
    let launcher = g_subprocess_launcher_new(FLAG_G_SUBPROCESS_FLAGS_STDOUT_PIPE)
    defer { g_object_unref(UnsafeMutableRawPointer(launcher)) }
    g_subprocess_launcher_set_child_setup(launcher, leaveTerminal, nil, nil)
    guard let process = g_subprocess_launcher_spawnv(launcher, &pointers, nil) else { return nil }
    return await withCheckedContinuation { continuation in
      g_subprocess_communicate_utf8_async(
        process, nil, nil,
        { source, result, data in
          guard let data else { return }
          var text: UnsafeMutablePointer<CChar>?
          g_subprocess_communicate_utf8_finish(source.map { OpaquePointer($0) }, result, &text, nil, nil)
          defer {
            g_free(text)
            g_object_unref(source)
          }
          Unmanaged<Waiter>.fromOpaque(data).takeRetainedValue().continuation
            .resume(returning: text.map { String(cString: $0) })
        }, Unmanaged.passRetained(Waiter(continuation)).toOpaque())
    }
  }

  private final class Waiter: Sendable {
    let continuation: CheckedContinuation<String?, Never>

    init(_ continuation: CheckedContinuation<String?, Never>) {
      self.continuation = continuation
    }
  }
}

/// Runs in the child, before the program: a session of its own has no terminal.
private func leaveTerminal(_: gpointer?) { setsid() }
