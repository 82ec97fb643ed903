package import FoundationEssentials
import GLibSupport
import HTTPSupport
import Synchronization
import TokenCache

/// The events of a sign-in in the browser.
package enum BrowserEvent: Sendable {
  /// A page is about to be opened.
  case opening(URL)
  /// The response has come, to this redirect URI.
  case answered(URL)
  /// No response will come. The error is that of the request.
  case failed(IdentityError)
}

/// The only sign-in of a client that may wait for its browser. It also handles a response to the application's own
/// scheme.
final class BrowserSession: Sendable {
  private typealias Outcome = Result<[String: String], IdentityError>

  private struct Waiting {
    /// The unique state of the request.
    let state: String
    /// The redirect URI with the application's own scheme, until the response has come.
    var redirectURI: URL?
    let isExpected: @Sendable ([String: String]) -> Bool
    let responses: AsyncStream<[String: String]>.Continuation
  }

  private let waiting = Mutex<Waiting?>(nil)
  private let onEvent: @Sendable (BrowserEvent) -> Void

  init(onEvent: @escaping @Sendable (BrowserEvent) -> Void) { self.onEvent = onEvent }

  /// Opens a page, waits for the response with this state, and returns it with its redirect URI. Errors get the
  /// correlation ID and the account of the request.
  func run(
    _ authenticator: any WebAuthenticator, redirectURI: URL?, responseMode: ResponseMode,
    state expected: String, timeout: Duration, correlationID: UUID, account: Account?,
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL
  ) async throws(IdentityError) -> (parameters: [String: String], redirectURI: URL) {
    try redirectURI.map(Self.check)
    let isOwnScheme = redirectURI?.isOwnScheme ?? false
    let isExpected: @Sendable ([String: String]) -> Bool = { parameters in
      parameters["state"].map { isEqualInConstantTime($0, expected) } ?? false
    }
    let (responses, continuation) = AsyncStream<[String: String]>.makeStream()
    let isFree = waiting.withLock { waiting in
      guard waiting == nil else { return false }
      waiting = Waiting(
        state: expected, redirectURI: isOwnScheme ? redirectURI : nil, isExpected: isExpected,
        responses: continuation)
      return true
    }
    guard isFree else {
      throw IdentityError(
        .interactiveSessionAlreadyRunning, "Another sign-in waits for its browser.",
        advice: "Finish or cancel it first.")
    }
    defer { free(expected) }

    let used = Mutex(redirectURI)
    let onEvent = onEvent
    @Sendable func page(_ uri: URL) throws(IdentityError) -> URL {
      used.withLock { $0 = uri }
      let page = try startURL(uri)
      onEvent(.opening(page))
      return page
    }
    @Sendable func authorize() async -> Outcome {
      await Result(
        awaiting: try await authenticator.authorize(
          startURL: page, redirectURI: redirectURI, responseMode: responseMode, isExpected: isExpected,
          timeout: timeout))
    }
    do throws(IdentityError) {
      let outcome = await withTaskCancellationHandler {
        isOwnScheme ? await Self.first(authorize, responses) : await authorize()
      } onCancel: {
        // The next sign-in may begin before this one has ended, unless it needs the same port.
        if redirectURI?.port == nil { free(expected) }
      }
      let parameters = try outcome.get()
      guard isExpected(parameters) else {
        throw IdentityError(.invalidState, "The browser's response is to another request.")
      }
      guard let uri = used.withLock({ $0 }) else {
        throw IdentityError(.unexpected, "The browser responded before it was asked.")
      }
      onEvent(.answered(uri))
      return (parameters, uri)
    } catch {
      let error = error.completed(correlationID, account)
      onEvent(.failed(error))
      throw error
    }
  }

  /// Allows the next sign-in to begin, unless it has begun.
  private func free(_ state: String) {
    waiting.withLock { waiting in
      if waiting?.state == state { waiting = nil }
    }
  }

  /// Handles an address that the system opened with the application. Returns whether it is the awaited response.
  func handle(_ url: URL) -> Bool {
    waiting.withLock { waiting in
      guard let redirectURI = waiting?.redirectURI, let parameters = url.answer(to: redirectURI),
        waiting?.isExpected(parameters) == true
      else { return false }
      // A response is accepted once.
      waiting?.redirectURI = nil
      waiting?.responses.yield(parameters)
      return true
    }
  }

  /// Returns the response that comes first: to the authenticator or by ``handle(_:)``.
  private static func first(
    _ authorize: @escaping @Sendable () async -> Outcome, _ responses: AsyncStream<[String: String]>
  ) async -> Outcome {
    await withTaskGroup(of: Outcome.self) { group in
      group.addTask { await authorize() }
      group.addTask {
        for await parameters in responses { return .success(parameters) }
        return .failure(.cancelled)
      }
      let first = await group.next() ?? .failure(.cancelled)
      group.cancelAll()
      return first
    }
  }

  /// Checks that an http address is one of this machine, since a listener can only be opened there.
  private static func check(_ uri: URL) throws(IdentityError) {
    guard let scheme = uri.scheme?.lowercased() else {
      throw IdentityError(.invalidRedirectURI, "The redirect URI has no scheme.")
    }
    guard scheme != "http" || LoopbackHost(uri.host() ?? "")?.isListenedOn == true else {
      throw IdentityError(
        .nonHttpsRedirect, "A redirect URI without TLS must be on this machine.",
        advice: "Register http://localhost.")
    }
  }
}
