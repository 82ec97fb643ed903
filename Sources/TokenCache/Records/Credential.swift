public import FoundationEssentials
import GLibSupport

/// A token of any kind in the cache.
///
/// The required fields of each kind are checked where it is used: ``AccessToken``, ``RefreshToken`` and
/// ``IDToken`` are views of a credential that has them.
public struct Credential: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) { self.fields = fields }

  /// Makes a credential from its identity and its secret; set everything else afterwards.
  public init(
    type: CredentialType, homeAccountID: String?, environment: String, clientID: String, secret: String
  ) {
    fields = [:]
    set("credential_type", type.rawValue)
    set("home_account_id", homeAccountID)
    set("environment", environment)
    set("client_id", clientID)
    set("secret", secret)
  }

  public var credentialType: CredentialType {
    get { string("credential_type").flatMap(CredentialType.init(caseInsensitive:)) ?? .other }
    set { set("credential_type", newValue.rawValue) }
  }
  /// The token itself.
  public var secret: String? {
    get { string("secret") }
    set { set("secret", newValue) }
  }
  /// `uid.utid`; `nil` for tokens of an application.
  public var homeAccountID: String? {
    get { string("home_account_id") }
    set { set("home_account_id", newValue) }
  }
  /// A host of the cloud that issued the token.
  public var environment: String? {
    get { string("environment") }
    set { set("environment", newValue) }
  }
  public var clientID: String? {
    get { string("client_id") }
    set { set("client_id", newValue) }
  }
  /// The tenant; some libraries write `common`, `organizations` or `consumers`.
  public var realm: String? {
    get { string("realm") }
    set { set("realm", newValue) }
  }
  /// Scopes separated by spaces, in the server's case and order.
  public var target: String? {
    get { string("target") }
    set { set("target", newValue) }
  }
  /// The family of clients that may use the token, usually `1`.
  public var familyID: String? {
    get { string("family_id") }
    set { set("family_id", newValue) }
  }
  /// `Pop`, `ssh-cert` and the like; Apple's library writes none for bearer tokens.
  public var tokenType: String? {
    get { string("token_type") }
    set { set("token_type", newValue) }
  }
  /// The thumbprint of the key that the token is bound to; MSAL for Python, Node and Go name the field differently.
  public var kid: String? {
    get { string("kid") ?? string("key_id") ?? string("keyid") }
    set { set("kid", newValue) }
  }
  /// The `claims` parameter of the token's request; MSAL for Node names the field differently. Lookups without claims find the
  /// token, too.
  public var requestedClaims: String? {
    get { string("requested_claims") ?? string("requestedClaims") }
    set { set("requested_claims", newValue) }
  }
  /// Other parameters of the token's request: themselves in MSAL.NET, a hash of them in MSAL for Python and Go.
  var extraParameters: JSONValue? {
    ["ext_cache_key", "ext"].lazy.compactMap { fields[$0] }.first {
      $0 != .null && ($0.stringValue == nil || $0.stringValue.nonBlank != nil)
    }
  }
  /// The authentication scheme in lower case, empty for bearer tokens.
  var schemeName: String {
    let name = (tokenType ?? "").normalized
    return name == "bearer" ? "" : name
  }
  /// The application's identifier in Intune.
  public var applicationIdentifier: String? {
    get { string("application_cache_identifier") }
    set { set("application_cache_identifier", newValue) }
  }
  public var enrollmentID: String? {
    get { string("enrollment_id") }
    set { set("enrollment_id", newValue) }
  }
  /// Telemetry from the `x-ms-clitelem` header.
  public var speInfo: String? {
    get { string("spe_info") }
    set { set("spe_info", newValue) }
  }
  /// Nested app authentication only.
  public var redirectURI: String? {
    get { string("redirect_uri") }
    set { set("redirect_uri", newValue) }
  }
  /// The source of the token if it is not the server.
  public var source: String? {
    get { string("token_source") }
    set { set("token_source", newValue) }
  }
  public var expiresOn: Date? {
    get { date("expires_on") }
    set { set("expires_on", newValue) }
  }
  /// Until when the token may be used while the token service is down.
  public var extendedExpiresOn: Date? {
    get { date("extended_expires_on") ?? date("ext_expires_on") }
    set { set("extended_expires_on", newValue) }
  }
  /// From when on the token should be renewed although it is still valid.
  public var refreshOn: Date? {
    get { date("refresh_on") }
    set { set("refresh_on", newValue) }
  }
  public var cachedAt: Date? {
    get { date("cached_at") }
    set { set("cached_at", newValue) }
  }
  public var lastModified: Date? {
    get { date("last_modification_time") }
    set { set("last_modification_time", newValue) }
  }

  package var serializedKey: String {
    let type = credentialType
    // The key has no more parts than the record's identity, so that it still fits after the record is replaced: a refresh
    // token serves every tenant and scope, and only an access token's key has more than client and tenant. Other
    // libraries write scopes into other keys too.
    let (owner, realm) = type.section == .refreshToken ? (familyID ?? clientID, nil) : (clientID, realm)
    var parts = [homeAccountID, environment, type.rawValue, owner, realm]
    guard type.section == .accessToken else { return Self.key(parts + [nil]) }
    if let applicationIdentifier { parts.append(applicationIdentifier) }
    parts.append(target)
    // In the schema only tokens with an authentication scheme have a token type; other libraries write
    // "Bearer" into plain ones, which is not part of their key.
    if type == .accessTokenWithAuthScheme, !schemeName.isEmpty { parts.append(schemeName) }
    return Self.key(parts) + (requestedClaims.map { "|" + sha256Hex($0.normalized).prefix(7) } ?? "")
  }

  package static let replacedFields: Set<String> = [
    "application_cache_identifier", "bound_device_id", "cached_at", "client_id", "credential_type",
    "device_id", "enrollment_id", "environment", "expires_in", "expires_on", "ext_expires_on",
    "extended_expires_on", "external_key_type", "family_id", "home_account_id", "key_id",
    "keyid", "kid", "last_modification_app", "last_modification_time", "last_recovery_attempt_failed",
    "prt_protocol_version", "realm", "recovery_attempt_count", "recovery_attempted_at", "redirect_uri",
    "refresh_on", "requestedClaims", "requestedClaimsHash", "requested_claims", "secret", "session_key",
    "spe_info", "token_source", "token_type",
  ]

  package static let spellings: Set<String> = ["environment", "realm", "target"]

  /// Whether the token has expired.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - buffer: How many seconds before its expiry a token counts as expired.
  /// - Returns: `true` also for a token from the future, since the clock was set back, for one that ends in more than ten
  ///   years, and for one without a readable expiry.
  public func isExpired(at now: Date, buffer: Double) -> Bool {
    lifetime.isExpired(at: now, buffer: buffer)
  }

  /// Whether the server asked for a renewal by now.
  public func needsRefresh(at now: Date) -> Bool { lifetime.needsRefresh(at: now) }

  /// Whether the token may be used while the token service is down.
  public func isInExtendedLifetime(at now: Date) -> Bool { lifetime.isInExtendedLifetime(at: now) }

  /// Whether this is an access token that has expired, extended lifetime included.
  ///
  /// When it was cached does not matter: a token from the future is valid again when the clock is right.
  package func hasFullyExpired(at now: Date) -> Bool {
    credentialType.section == .accessToken && lifetime.hasFullyEnded(at: now)
  }

  var lifetime: TokenLifetime { TokenLifetime(of: self) }
}

extension Credential: CustomStringConvertible, CustomReflectable {
  /// The record's kind and the names of its fields, never a value.
  public var description: String {
    "\(credentialType.rawValue)(\(fields.keys.sorted().joined(separator: ", ")))"
  }

  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The kinds of credential in MSAL's unified schema, as the field `credential_type` names them.
public enum CredentialType: String, Sendable, Hashable, CaseIterable {
  case accessToken = "AccessToken"
  /// A proof-of-possession token or an SSH certificate.
  case accessTokenWithAuthScheme = "AccessToken_With_AuthScheme"
  case refreshToken = "RefreshToken"
  case familyRefreshToken = "FamilyRefreshToken"
  case boundRefreshToken = "BoundRefreshToken"
  case primaryRefreshToken = "PrimaryRefreshToken"
  case idToken = "IdToken"
  /// An ID token from a v1 endpoint.
  case legacyIDToken = "V1IdToken"
  case legacySingleResourceToken = "LegacySingleResourceToken"
  case other = "token"

  /// Reads a `credential_type` without regard to case.
  public init?(caseInsensitive text: String) {
    guard let type = Self.byLowercasedName[text.lowercased()] else { return nil }
    self = type
  }

  private static let byLowercasedName = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

  /// The section of the cache document that holds such a credential.
  public var section: CredentialSection {
    switch self {
    case .accessToken, .accessTokenWithAuthScheme, .legacySingleResourceToken, .other: .accessToken
    case .refreshToken, .familyRefreshToken, .boundRefreshToken, .primaryRefreshToken: .refreshToken
    case .idToken, .legacyIDToken: .idToken
    }
  }
}
