import FoundationEssentials
import Synchronization

/// What is sent to the token endpoint about this request and earlier failures: the header fields
/// `x-client-current-telemetry` and `x-client-last-telemetry`, version 4.
final class ServerTelemetry: Sendable {
  /// The kinds of token request, with the numbers of Microsoft's services.
  enum Call: Int, Sendable {
    case silent = 34
    case interactive = 167
    case deviceCode = 622
  }

  /// Why the token did not come from the cache.
  enum RefreshReason: Int, Sendable {
    case none = 0
    case forced = 1
    case noAccessToken = 2
    case expired = 3
    case proactive = 4
  }

  private struct State {
    /// Each as the call and its correlation id, and the error.
    var failures: [(call: String, error: String)] = []
    var silentSuccesses = 0
  }

  /// The longest value of `x-client-last-telemetry`, in bytes.
  private static let limit = 350

  private let state = Mutex(State())

  static func current(_ call: Int, _ reason: Int) -> String { "4|\(call),\(reason)|" }

  /// The earlier failures. If not all fit, the oldest are left out.
  var last: String {
    state.withLock { state in
      var failures = state.failures[...]
      while true {
        let calls = failures.map(\.call).joined(separator: ",")
        let errors = failures.map(\.error).joined(separator: ",")
        let text = "4|\(state.silentSuccesses)|\(calls)|\(errors)|"
        // It is short without failures.
        if text.utf8.count <= Self.limit { return text }
        failures = failures.dropFirst()
      }
    }
  }

  func tokenCameFromCache() { state.withLock { $0.silentSuccesses += 1 } }

  /// Records the outcome of a request. The server has received the earlier ones.
  func finished(_ call: Int, correlationID: UUID?, error: String?) {
    state.withLock { state in
      guard let error else {
        state = State()
        return
      }
      let id = correlationID?.text ?? ""
      state.failures.append(("\(call),\(id)", error))
      if state.failures.count > 75 { state.failures.removeFirst() }
    }
  }
}
