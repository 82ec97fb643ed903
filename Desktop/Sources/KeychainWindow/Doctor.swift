import CGTK
import FoundationEssentials
import Glibc
import KeychainModel

/// What `llavero doctor` says, the tool being beside this program or on the path.
enum Doctor {
  struct Finding: Decodable {
    let state: String
    let message: String
    let advice: String?
  }

  private struct Report: Decodable {
    let findings: [Finding]
  }

  /// - Throws: ``Trouble`` when there is no tool, or it does not answer.
  @MainActor
  static func findings() async throws(Trouble) -> [Finding] {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let beside = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/llavero"
    let tool = access(beside, X_OK) == 0 ? beside : "llavero"
    guard let output = await run([tool, "doctor", "--json"]),
      let report = try? JSONDecoder().decode(Report.self, from: Data(output.utf8))
    else {
      throw Trouble(
        "The Doctor Is Not In", "The tool llavero could not be asked.",
        advice: "Install it, and run “llavero doctor” in a terminal.")
    }
    return report.findings
  }

  /// What the program writes to its standard output; `nil` where it cannot be started.
  @MainActor
  private static func run(_ command: [String]) async -> String? {
    let words = command.map { strdup($0) }
    defer { words.forEach { free($0) } }
    var pointers = words.map { UnsafePointer($0) } + [nil]
    guard let process = g_subprocess_newv(&pointers, G_SUBPROCESS_FLAGS_STDOUT_PIPE, nil) else { return nil }
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
          Unmanaged<Answer>.fromOpaque(data).takeRetainedValue().continuation
            .resume(returning: text.map { String(cString: $0) })
        }, Unmanaged.passRetained(Answer(continuation)).toOpaque())
    }
  }

  private final class Answer: Sendable {
    let continuation: CheckedContinuation<String?, Never>

    init(_ continuation: CheckedContinuation<String?, Never>) {
      self.continuation = continuation
    }
  }
}
