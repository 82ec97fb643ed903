import FoundationEssentials
import HTTPSupport
import TokenCache

/// The endpoints of an authority, from its discovery document (OpenID Connect Discovery 1.0).
struct AuthorityMetadata: Sendable {
  let authority: Authority
  let issuer: String
  let authorizationEndpoint: URL
  let tokenEndpoint: URL
  let deviceAuthorizationEndpoint: URL?
  let endSessionEndpoint: URL?
  /// `nil` if the document does not list them.
  let responseModes: [String]?
  /// Whether redirects have the issuer as `iss` (RFC 9207).
  let redirectsNameIssuer: Bool

  /// Reads a discovery document and checks that its endpoints are the authority's.
  init(_ fields: JSONObject, of authority: Authority, in clouds: CloudInstances) throws(IdentityError) {
    self.authority = authority
    func endpoint(_ name: String) throws(IdentityError) -> URL? {
      guard let text = fields[name]?.stringValue.nonBlank else { return nil }
      guard let address = HTTPSAddress(text.replacing("{tenantid}", with: authority.tenant ?? "")) else {
        throw .authorityValidationFailed("The authority's \(name) is not an https address.")
      }
      // Tokens of a cloud are sent only to its own hosts, whatever the document says.
      guard
        authority.kind != .aad && !clouds.contains(authority.host)
          || clouds.aliases(of: authority.host).contains(address.host)
      else {
        throw .authorityValidationFailed(
          "The authority's \(name) is at \(address.host), another server's host.")
      }
      return address.url
    }
    guard let authorizationEndpoint = try endpoint("authorization_endpoint"),
      let tokenEndpoint = try endpoint("token_endpoint"),
      let issuer = fields["issuer"]?.stringValue.nonBlank
    else {
      throw .authorityValidationFailed("The authority's discovery document lacks an endpoint or the issuer.")
    }
    if authority.kind == .oidc { try Self.check(issuer: issuer, of: authority, in: clouds) }
    self.issuer = issuer
    self.authorizationEndpoint = authorizationEndpoint
    self.tokenEndpoint = tokenEndpoint
    deviceAuthorizationEndpoint =
      try endpoint("device_authorization_endpoint") ?? Self.deviceEndpoint(beside: tokenEndpoint, authority)
    endSessionEndpoint = try endpoint("end_session_endpoint")
    responseModes = fields["response_modes_supported"]?.arrayValue?.compactMap(\.stringValue)
    redirectsNameIssuer = fields["authorization_response_iss_parameter_supported"] == .bool(true)
  }

  /// Whether `text`, the `iss` of a redirect (RFC 9207), is this issuer. `{tenantid}` matches any tenant.
  func isIssuer(_ text: String) -> Bool {
    guard let place = issuer.firstRange(of: "{tenantid}") else { return text == issuer }
    let (start, end) = (issuer[..<place.lowerBound], issuer[place.upperBound...])
    guard text.hasPrefix(start), text.hasSuffix(end), text.utf8.count > start.utf8.count + end.utf8.count
    else { return false }
    return !text.dropFirst(start.count).dropLast(end.count).contains("/")
  }

  /// Returns the expected issuer of the ID token: that of the redirect, if it has one.
  func issuer(named name: String?) -> String { name.flatMap { isIssuer($0) ? $0 : nil } ?? issuer }

  /// Checks the issuer of an OpenID Connect provider. By RFC 8414 section 3.3 it is the requested address. MSAL also
  /// accepts any issuer on the same host, and Microsoft's.
  private static func check(
    issuer: String, of authority: Authority, in clouds: CloudInstances
  ) throws(IdentityError) {
    guard let host = HTTPSAddress(issuer)?.host,
      host == authority.host || clouds.contains(host) || isRegionOfKnownHost(host, in: clouds)
        || [KnownCloud.b2cSuffix, KnownCloud.externalIDSuffix].contains(where: host.hasSuffix)
    else { throw .authorityValidationFailed("The authority's issuer is another server.") }
  }

  private static func isRegionOfKnownHost(_ host: String, in clouds: CloudInstances) -> Bool {
    host.firstIndex(of: ".").map { clouds.contains(String(host[host.index(after: $0)...])) } ?? false
  }

  /// Microsoft's documents do not always have the endpoint, but it is beside the token endpoint.
  private static func deviceEndpoint(beside token: URL, _ authority: Authority) -> URL? {
    guard authority.kind == .aad || authority.kind == .adfs, token.absoluteString.hasSuffix("/token") else {
      return nil
    }
    return URL(string: String(token.absoluteString.dropLast("token".count)) + "devicecode")
  }
}

extension IdentityError {
  static func authorityValidationFailed(_ reason: String) -> IdentityError {
    IdentityError(.authorityValidationFailed, reason, advice: "Check the authority.")
  }
}
