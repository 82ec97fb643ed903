package import FoundationEssentials
import HTTPSupport
import Synchronization
import TokenCache

/// What happens between a client and the browser.
package enum BrowserEvent: Sendable {
  /// A page is about to be opened.
  case opening(URL)
  /// The answer has come, to this redirect URI.
  case answered(URL)
  /// No answer will come. The error is the one with which the request ends.
  case failed(IdentityError)
}

/// The one sign-in of a client that may wait for its browser, and the way in for an answer that comes to a
/// scheme of the application's own.
final class BrowserSession: Sendable {
  typealias Answer = Result<[String: String], IdentityError>

  private struct State {
    var isRunning = false
    var redirectURI: URL?
    var isExpected: (@Sendable ([String: String]) -> Bool)?
    var waiting: CheckedContinuation<Answer, Never>?
    var early: Answer?
  }

  private let state = Mutex(State())
  private let onEvent: @Sendable (BrowserEvent) -> Void

  init(onEvent: @escaping @Sendable (BrowserEvent) -> Void) {
    self.onEvent = onEvent
  }

  /// Opens a page and waits for the answer with the right state. Errors get the correlation id and the account of the
  /// request.
  ///
  /// - Returns: The answer, and the redirect URI that it came to.
  /// - Throws: ``IdentityError``; ``IdentityError/Code/interactiveSessionAlreadyRunning`` while another
  ///   waits.
  func run(
    _ authenticator: any WebAuthenticator, redirectURI: URL?, responseMode: ResponseMode,
    state expected: String,
    timeout: Duration, correlationID: UUID, account: Account?,
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL
  ) async throws(IdentityError) -> (parameters: [String: String], redirectURI: URL) {
    let isOwnScheme = try redirectURI.map(Self.isOwnScheme) ?? false
    let isExpected: @Sendable ([String: String]) -> Bool = { parameters in
      parameters["state"].map { isEqualInConstantTime($0, expected) } ?? false
    }
    let isFree = state.withLock { state in
      guard !state.isRunning else { return false }
      state = State(isRunning: true)
      if isOwnScheme { (state.redirectURI, state.isExpected) = (redirectURI, isExpected) }
      return true
    }
    guard isFree else {
      throw IdentityError(
        .interactiveSessionAlreadyRunning, "Another sign-in waits for its browser.",
        advice: "Finish or cancel it first.")
    }
    defer { state.withLock { $0 = State() } }

    do {
      let answer = try await exchange(
        authenticator, redirectURI, isOwnScheme: isOwnScheme, responseMode, timeout, isExpected, startURL)
      onEvent(.answered(answer.redirectURI))
      return answer
    } catch {
      let error = error.completed(correlationID, account)
      onEvent(.failed(error))
      throw error
    }
  }

  private func exchange(
    _ authenticator: any WebAuthenticator, _ redirectURI: URL?, isOwnScheme: Bool,
    _ responseMode: ResponseMode, _ timeout: Duration,
    _ isExpected: @escaping @Sendable ([String: String]) -> Bool,
    _ startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL
  ) async throws(IdentityError) -> (parameters: [String: String], redirectURI: URL) {
    let used = Mutex(redirectURI)
    let onEvent = onEvent
    let open: @Sendable () async -> Answer = {
      await Answer.catching { () async throws(IdentityError) in
        try await authenticator.authorize(
          startURL: { uri throws(IdentityError) in
            used.withLock { $0 = uri }
            let page = try startURL(uri)
            onEvent(.opening(page))
            return page
          }, redirectURI: redirectURI, responseMode: isOwnScheme ? .query : responseMode,
          isExpected: isExpected, timeout: timeout)
      }
    }
    let answer = isOwnScheme ? await race(open) : await open()
    let parameters = try answer.get()
    guard isExpected(parameters) else {
      throw IdentityError(.invalidState, "The browser's answer is to another request.")
    }
    guard let uri = used.withLock({ $0 }) else {
      throw IdentityError(.unexpected, "The browser answered before it was asked.")
    }
    return (parameters, uri)
  }

  /// Takes an address that the system opened with the application.
  ///
  /// - Returns: Whether it is the answer that is waited for.
  func handle(_ url: URL) -> Bool {
    let (answer, waiting) = state.withLock { state -> (Answer?, CheckedContinuation<Answer, Never>?) in
      guard let redirectURI = state.redirectURI, let parameters = url.answer(to: redirectURI),
        state.isExpected?(parameters) ?? false
      else { return (nil, nil) }
      // The answer counts once.
      state.redirectURI = nil
      let answer = Answer.success(parameters)
      state.early = answer
      return (answer, state.waiting.take())
    }
    guard let answer else { return false }
    waiting?.resume(returning: answer)
    return true
  }

  /// The answer comes to the authenticator, or by ``handle(_:)``; whichever ends first counts.
  private func race(_ open: @escaping @Sendable () async -> Answer) async -> Answer {
    await withTaskGroup(of: Answer.self) { group in
      group.addTask { await open() }
      group.addTask { await self.answer() }
      let first = await group.next() ?? .failure(.cancelled)
      group.cancelAll()
      return first
    }
  }

  private func answer() async -> Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let early = state.withLock { state -> Answer? in
          if let early = state.early { return early }
          if Task.isCancelled { return .failure(.cancelled) }
          state.waiting = continuation
          return nil
        }
        if let early { continuation.resume(returning: early) }
      }
    } onCancel: {
      let waiting = state.withLock { $0.waiting.take() }
      waiting?.resume(returning: .failure(.cancelled))
    }
  }

  /// Whether a redirect URI has a scheme of the app's own, for which no listener on this machine can be opened.
  private static func isOwnScheme(_ uri: URL) throws(IdentityError) -> Bool {
    switch uri.scheme?.lowercased() {
    case nil: throw IdentityError(.invalidRedirectURI, "The redirect URI has no scheme.")
    case "http":
      guard ["localhost", "127.0.0.1", "::1", "[::1]"].contains(uri.host()?.lowercased() ?? "") else {
        throw IdentityError(
          .nonHttpsRedirect, "A redirect URI without TLS must be on this machine.",
          advice: "Register http://localhost.")
      }
      return false
    case "https": return false
    default: return true
    }
  }
}
