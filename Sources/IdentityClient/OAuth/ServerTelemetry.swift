import FoundationEssentials
import Synchronization

/// What the token endpoint learns about this request and the failed ones before it: header fields
/// `x-client-current-telemetry` and `x-client-last-telemetry`, version 4.
final class ServerTelemetry: Sendable {
  /// The calls that ask for tokens, by the numbers that Microsoft's services know them by.
  enum Call: Int, Sendable {
    case silent = 34
    case interactive = 167
    case deviceCode = 622
  }

  /// Why the token endpoint is asked although there is a cache.
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

  /// What happened before. Failures that do not fit are left out, the oldest first.
  var last: String {
    state.withLock { state in
      var failures = state.failures[...]
      while true {
        let calls = failures.map(\.call).joined(separator: ",")
        let errors = failures.map(\.error).joined(separator: ",")
        let text = "4|\(state.silentSuccesses)|\(calls)|\(errors)|"
        if text.utf8.count <= Self.limit || failures.isEmpty { return text }
        failures = failures.dropFirst()
      }
    }
  }

  func tokenCameFromCache() { state.withLock { $0.silentSuccesses += 1 } }

  /// Notes how a request ended; the server has received what was before it.
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
