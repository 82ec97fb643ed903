public import FoundationEssentials
import GLibSupport

/// A token in the cache, of whatever kind.
///
/// The required fields of each kind are checked where it is used: ``AccessToken``, ``RefreshToken`` and
/// ``IDToken`` are views of a credential that has them.
public struct Credential: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) {
    self.fields = fields
  }

  /// Makes a credential from its identity and its secret; everything else is set afterwards.
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
  /// The thumbprint of the key that the token is bound to; MSAL for Python, Node and Go have names of their
  /// own for the field.
  public var kid: String? {
    get { string("kid") ?? string("key_id") ?? string("keyid") }
    set { set("kid", newValue) }
  }
  /// The `claims` parameter that the token was asked with; MSAL for Node has a name of its own for the field.
  public var requestedClaims: String? {
    get { string("requested_claims") ?? string("requestedClaims") }
    set { set("requested_claims", newValue) }
  }
  /// What else the token was asked with: the parameters in MSAL.NET, a hash of them in MSAL for Python and
  /// Go.
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
  /// Who gave the token, where that was somebody else than the server.
  public var source: String? {
    get { string("token_source") }
    set { set("token_source", newValue) }
  }
  public var expiresOn: Date? {
    get { date("expires_on") }
    set { set("expires_on", newValue) }
  }
  /// Until when the token serves while the token service is down.
  public var extendedExpiresOn: Date? {
    get { date("extended_expires_on") ?? date("ext_expires_on") }
    set { set("extended_expires_on", newValue) }
  }
  /// From when on the token should be renewed although it is still good.
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
    // The key says no more than the record's identity does, so that what replaces a record leaves its key true: a
    // refresh token serves every tenant and scope, and only an access token's name has more than client and tenant.
    // Other libraries write scopes into others too.
    let (owner, realm) = type.section == .refreshToken ? (familyID ?? clientID, nil) : (clientID, realm)
    var parts = [homeAccountID, environment, type.rawValue, owner, realm]
    guard type.section == .accessToken else {
      return (parts + [nil]).map { ($0 ?? "").normalized }.joined(separator: "-")
    }
    if let applicationIdentifier { parts.append(applicationIdentifier) }
    parts.append(target)
    // The schema gives a token type only to tokens with an authentication scheme; other libraries write
    // "Bearer" into plain ones, which is no part of their name.
    if type == .accessTokenWithAuthScheme, !schemeName.isEmpty { parts.append(schemeName) }
    let key = parts.map { ($0 ?? "").normalized }.joined(separator: "-")
    return key + (requestedClaims.map { "|" + sha256Hex($0.normalized).prefix(7) } ?? "")
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

  /// Whether the token is useless by now.
  ///
  /// - Parameters:
  ///   - now: The present.
  ///   - buffer: How many seconds before its end a token counts as expired.
  /// - Returns: `true` also for a token from the future, which says that the clock was put back, and for one
  ///   without a readable expiry.
  public func isExpired(at now: Date, buffer: Double) -> Bool {
    lifetime.isExpired(at: now, buffer: buffer)
  }

  /// Whether the server asked for a renewal by now.
  public func needsRefresh(at now: Date) -> Bool {
    lifetime.needsRefresh(at: now)
  }

  /// Whether the token may be used while the token service is down.
  public func isInExtendedLifetime(at now: Date) -> Bool {
    lifetime.isInExtendedLifetime(at: now)
  }

  /// Whether this is an access token that has expired, extended lifetime included.
  ///
  /// When it was cached does not matter: the time of a token from the future comes when the clock is right again.
  package func hasFullyExpired(at now: Date) -> Bool {
    credentialType.section == .accessToken && !isInExtendedLifetime(at: now)
      && expiresOn.map { $0 < now } ?? true
  }

  /// The token's times, read from its fields.
  var lifetime: TokenLifetime { TokenLifetime(of: self) }
}

extension Credential: CustomStringConvertible, CustomReflectable {
  /// The record's kind and the names of its fields, never a value.
  public var description: String {
    "\(credentialType.rawValue)(\(fields.keys.sorted().joined(separator: ", ")))"
  }

  public var customMirror: Mirror { Mirror(self, children: []) }
}
