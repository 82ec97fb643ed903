public import FoundationEssentials

/// Proof of possession: the token is bound to a key, and each result holds it inside of a signed HTTP request, which
/// is good for one request to an API and for some minutes.
///
/// Only APIs that ask for it take such tokens; they say so with `WWW-Authenticate: PoP`. For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: configuration, cache: cache, transport: transport, popKeys: GroupKeys())
/// var request = SilentRequest(scopes: ["api://orders/read"], account: account)
/// request.authenticationScheme = PopScheme(httpMethod: "GET", url: url)
/// let authorization = try await client.acquireTokenSilent(request).authorizationHeader
/// ```
public struct PopScheme: Sendable, Hashable {
  /// The method of the request to the API; `nil` for a proof that does for any.
  public var httpMethod: String?
  /// The address of the request to the API. The host and the path are signed, neither the port nor the query.
  public var url: URL
  /// The nonce that the API asks for; a fresh one unless it is given.
  public var nonce: String?

  public init(httpMethod: String?, url: URL, nonce: String? = nil) {
    self.httpMethod = httpMethod
    self.url = url
    self.nonce = nonce
  }

  /// As it stands in a token request, in the cache and in an `Authorization` header field.
  public static let tokenType = "Pop"
}
