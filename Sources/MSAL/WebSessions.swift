import BrowserSignIn
import Foundation
import IdentityClient
import Synchronization

/// The sign-ins of the process that wait for a browser. MSAL's methods that end or complete them are class methods.
enum WebSessions {
  private static let sessions = Mutex<[UUID: (client: PublicClient, cancel: @Sendable () -> Void)]>([:])

  /// Runs a sign-in, which ends with the calling task or by ``cancelAll()``.
  static func run<T: Sendable>(
    _ client: PublicClient, _ work: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let id = UUID()
    let task = sessions.withLock { sessions in
      // Made under the lock, so that an immediate response finds its sign-in.
      let task = Task { try await work() }
      sessions[id] = (client, { task.cancel() })
      return task
    }
    defer { sessions.withLock { $0[id] = nil } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// - Returns: Whether there was a sign-in to cancel.
  static func cancelAll() -> Bool {
    let cancels = sessions.withLock { $0.values.map(\.cancel) }
    for cancel in cancels { cancel() }
    return !cancels.isEmpty
  }

  /// - Returns: Whether a sign-in waited for this response, in this process or another one of the user.
  static func handle(_ url: URL) -> Bool {
    let clients = sessions.withLock { $0.values.map(\.client) }
    return clients.contains { $0.handleRedirect(url) } || RedirectHandover.handOver(url)
  }
}
