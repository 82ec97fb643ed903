public import FoundationEssentials

/// How the authorization server hands its response to the client.
public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
  /// The response is a form that the browser posts, so that the code stands in no address and in no history.
  case formPost = "form_post"
  /// The response is in the query of the redirect URI.
  case query
}

/// Guides a person through a sign-in in a browser and takes the response.
public protocol WebAuthenticator: Sendable {
  /// How the response has to come for this authenticator to take it; `nil`, which is the default, where the server's way
  /// decides.
  var requiredResponseMode: ResponseMode? { get }

  /// Opens a page and waits for the response that is expected.
  ///
  /// - Parameters:
  ///   - startURL: Makes the page's address for the redirect URI that the response will come to.
  ///   - redirectURI: The redirect URI that was configured. `nil`, and a loopback address without a port, ask
  ///     for a free port. The response to a scheme of the application's own may come to
  ///     ``PublicClient/handleRedirect(_:)`` instead, which cancels the method.
  ///   - responseMode: How the response comes.
  ///   - isExpected: Whether a response belongs to this sign-in. What does not is turned away, and the wait
  ///     goes on.
  ///   - timeout: How long to wait.
  /// - Returns: The parameters of the response, errors of the server among them.
  /// - Throws: ``IdentityError`` when the page cannot be opened, nothing comes in time or the task is
  ///   cancelled.
  func authorize(
    startURL: @escaping @Sendable (_ redirectURI: URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String]

  /// Returns what signs people in in a private window, which has none of the browser's sessions and is forgotten
  /// afterwards; `nil` if the browser cannot be asked for one, which is the default.
  func ephemeral() async -> (any WebAuthenticator)?
}

extension WebAuthenticator {
  public var requiredResponseMode: ResponseMode? { nil }

  public func ephemeral() async -> (any WebAuthenticator)? { nil }
}
