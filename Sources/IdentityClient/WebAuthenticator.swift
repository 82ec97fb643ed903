public import FoundationEssentials

/// How the authorization server returns its response to the client.
public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
  /// The browser posts the response as a form, so that the code is in no address and no history.
  case formPost = "form_post"
  /// The response is in the query of the redirect URI.
  case query
}

/// Opens sign-in pages in a browser and receives the response.
public protocol WebAuthenticator: Sendable {
  /// Whether there is a browser, as far as known without opening a page (default: `true`).
  var isAvailable: Bool { get }

  /// The response mode that this authenticator requires; `nil` for the server's (default).
  var requiredResponseMode: ResponseMode? { get }

  /// Opens a page and waits for the expected response.
  ///
  /// - Parameters:
  ///   - startURL: Returns the page's address for a redirect URI.
  ///   - redirectURI: The configured redirect URI. `nil` and a loopback address without a port mean any free port. The
  ///     response to a scheme of the application's own may come to ``PublicClient/handleRedirect(_:)``, which cancels
  ///     the method.
  ///   - responseMode: The mode of the response.
  ///   - isExpected: Whether a response belongs to this sign-in. Others are rejected, and the wait continues.
  ///   - timeout: The timeout of the wait.
  /// - Returns: The parameters of the response, which may be an error of the server.
  /// - Throws: ``IdentityError`` if the page cannot be opened, the wait times out or the task is cancelled.
  func authorize(
    startURL: @escaping @Sendable (_ redirectURI: URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String]

  /// Returns an authenticator that uses a private window, which has no sessions and keeps none; `nil` if the browser
  /// does not support that (default).
  func ephemeral() async -> (any WebAuthenticator)?
}

extension WebAuthenticator {
  public var isAvailable: Bool { true }

  public var requiredResponseMode: ResponseMode? { nil }

  public func ephemeral() async -> (any WebAuthenticator)? { nil }
}
