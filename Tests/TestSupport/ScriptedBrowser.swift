import Foundation
import HTTPSupport
package import IdentityClient
import Synchronization

/// Plays the browser and the person before it.
package final class ScriptedBrowser: WebAuthenticator {
  package typealias Person = @Sendable ([String: String]) async throws(IdentityError) -> [String: String]
  /// Whether an answer belongs to the sign-in.
  package typealias Expectation = @Sendable ([String: String]) -> Bool

  private struct State {
    var pages: [URL] = []
    var modes: [ResponseMode] = []
    var person: (@Sendable (Expectation, [String: String]) async throws(IdentityError) -> [String: String])?
    var hasPrivateWindows = false
    var privatePages = 0
  }

  private let state = Mutex(State())
  private let opened = AsyncStream<URL>.makeStream()

  package init() {}

  /// What the person does with a page; without it they sign in.
  package func person(_ person: @escaping Person) {
    state.withLock { $0.person = { _, query async throws(IdentityError) in try await person(query) } }
  }

  /// The same with the question which answers belong to the sign-in.
  package func expectation(_ answer: @escaping @Sendable (Expectation, [String: String]) -> [String: String])
  {
    state.withLock { $0.person = { isExpected, query in answer(isExpected, query) } }
  }

  /// The person signs in, and the page's answer says more.
  package func answer(adding more: [String: String] = [:]) {
    person { query in ["code": "code-1", "state": query["state"] ?? ""].merging(more) { $1 } }
  }

  /// The person does nothing until the sign-in ends. With a gate, a cancelled one does not end before that is open.
  package func idle(_ gate: Gate? = nil) {
    person { _ throws(IdentityError) in
      let (end, continuation) = AsyncStream<Never>.makeStream()
      for await _ in end {}
      continuation.finish()
      await gate?.wait()
      throw IdentityError(.cancelled, "")
    }
  }

  /// Waits for the next page that is opened.
  package func nextPage() async throws -> URL {
    for await page in opened.stream { return page }
    throw CancellationError()
  }

  package var pages: [URL] { state.withLock { $0.pages } }
  package var modes: [ResponseMode] { state.withLock { $0.modes } }
  package var lastQuery: [String: String] {
    pages.last.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedQuery }
      .flatMap { FormEncoding.decode($0.utf8) } ?? [:]
  }

  package var privatePages: Int { state.withLock { $0.privatePages } }
  package var hasPrivateWindows: Bool {
    get { state.withLock { $0.hasPrivateWindows } }
    set { state.withLock { $0.hasPrivateWindows = newValue } }
  }

  /// The person is the same, and the pages are counted.
  package func ephemeral() async -> (any WebAuthenticator)? {
    state.withLock { state in
      guard state.hasPrivateWindows else { return nil }
      state.privatePages += 1
      return self
    }
  }

  package func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    guard let redirectURI = redirectURI ?? URL(string: "http://localhost:37469") else { return [:] }
    let page = try startURL(redirectURI)
    let person = state.withLock { state in
      state.pages.append(page)
      state.modes.append(responseMode)
      return state.person
    }
    let query = lastQuery
    opened.continuation.yield(page)
    return try await person?(isExpected, query) ?? ["code": "code-1", "state": query["state"] ?? ""]
  }
}
