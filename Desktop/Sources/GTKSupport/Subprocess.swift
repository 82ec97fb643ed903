import CGTK

/// Runs a program for its output.
public enum Subprocess {
  /// Runs a program to its end, without blocking the loop.
  ///
  /// - Parameter command: The program, as a path or a name on PATH, and its arguments.
  /// - Returns: Its standard output; `nil` if it cannot be started or the output is not UTF-8.
  @MainActor
  public static func output(of command: [String]) async -> String? {
    let words = command.map { strdup($0) }
    defer { words.forEach { free($0) } }
    var pointers = words.map { UnsafePointer($0) } + [nil]
    guard let process = g_subprocess_newv(&pointers, FLAG_G_SUBPROCESS_FLAGS_STDOUT_PIPE, nil) else {
      return nil
    }
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
