public import FoundationEssentials
public import TokenCache

/// A token and its account.
///
/// For example:
///
/// ```swift
/// let result = try await client.token(for: ["User.Read"])
/// print(result.account.username ?? "", result.scopes, result.source)
/// ```
public struct AuthenticationResult: Sendable {
  /// Where the token came from.
  public enum Source: Sendable, Hashable {
    case cache
    case network
    /// A broker, such as the identity broker.
    case broker
  }

  /// The access token; empty if the server returned none. With a ``PopScheme`` it is a signed HTTP request that
  /// contains the token, made for this result.
  public var accessToken: String { contents.accessToken }
  public var tokenType: String { contents.tokenType }
  public var expiresOn: Date? { contents.expiresOn }
  /// The granted scopes, as the server wrote them.
  public var scopes: [String] { contents.scopes }
  public var idToken: String? { contents.idToken }
  /// The claims of the ID token.
  public var claims: IDTokenClaims? { contents.claims }
  public var account: Account { contents.account }
  /// The account in the tenant that issued the token.
  public var tenantProfile: TenantProfile? { contents.tenantProfile }
  /// The authority that issued the token.
  public var authority: Authority { contents.authority }
  public internal(set) var correlationID: UUID
  /// Whether the token has expired and is returned only because the token service is down.
  public var isExtendedLifetime: Bool { contents.isExtendedLifetime }
  /// Why the tokens could not be stored. They are valid, but the account has to sign in again once they expire.
  public var cacheError: CacheError? { contents.cacheError }
  public var source: Source { contents.source }

  private var contents: Contents { shared.contents }
  /// Shared, so that returning a memoized result copies nothing.
  private var shared: Shared

  private struct Contents: Sendable {
    var accessToken: String
    var tokenType: String
    let expiresOn: Date?
    let scopes: [String]
    let idToken: String?
    let claims: IDTokenClaims?
    let account: Account
    let tenantProfile: TenantProfile?
    let authority: Authority
    let isExtendedLifetime: Bool
    let cacheError: CacheError?
    let source: Source
  }

  private final class Shared: Sendable {
    let contents: Contents
    init(_ contents: Contents) { self.contents = contents }
  }

  /// Creates a result, for a token source or a test. Stores nothing.
  public init(
    accessToken: String, tokenType: String = "Bearer", expiresOn: Date?, scopes: [String], idToken: String?,
    claims: IDTokenClaims?, account: Account, tenantProfile: TenantProfile?, authority: Authority,
    correlationID: UUID, isExtendedLifetime: Bool = false, cacheError: CacheError? = nil, source: Source
  ) {
    shared = Shared(
      Contents(
        accessToken: accessToken, tokenType: tokenType, expiresOn: expiresOn, scopes: scopes,
        idToken: idToken, claims: claims, account: account, tenantProfile: tenantProfile,
        authority: authority, isExtendedLifetime: isExtendedLifetime, cacheError: cacheError, source: source))
    self.correlationID = correlationID
  }

  /// Returns the result with its token in a newly signed request.
  func presenting(by proof: PopProof, at now: Date) throws(IdentityError) -> AuthenticationResult {
    var (result, contents) = (self, contents)
    contents.accessToken = try proof.key.signedRequest(proof.scheme, accessToken: accessToken, at: now)
    contents.tokenType = PopScheme.tokenType
    result.shared = Shared(contents)
    return result
  }

  /// The value of an `Authorization` header field; empty without an access token.
  public var authorizationHeader: String { accessToken.isEmpty ? "" : "\(tokenType) \(accessToken)" }
}

extension AuthenticationResult: CustomStringConvertible, CustomReflectable {
  /// The scopes and the source, never the token.
  public var description: String {
    "AuthenticationResult(\(scopes.joined(separator: " ")), from the \(source))"
  }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
