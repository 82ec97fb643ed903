import FoundationEssentials
import HTTPSupport
import TokenCache

/// Where an authority's endpoints are, as its discovery document says (OpenID Connect Discovery 1.0).
struct AuthorityMetadata: Sendable {
  let authority: Authority
  let issuer: String
  let authorizationEndpoint: URL
  let tokenEndpoint: URL
  let deviceAuthorizationEndpoint: URL?
  let endSessionEndpoint: URL?
  /// `nil` when the document does not say.
  let responseModes: [String]?
  /// Whether redirects name their issuer (RFC 9207).
  let redirectsNameIssuer: Bool

  /// Reads a discovery document and checks that its endpoints are the authority's.
  init(_ fields: JSONObject, of authority: Authority, in clouds: CloudInstances) throws(IdentityError) {
    self.authority = authority
    func endpoint(_ name: String) throws(IdentityError) -> URL? {
      guard let text = fields[name]?.stringValue.nonBlank else { return nil }
      guard let address = HTTPSAddress(text.replacing("{tenantid}", with: authority.tenant ?? "")) else {
        throw .authorityValidationFailed("The authority's \(name) is not an https address.")
      }
      // Tokens of a cloud go to hosts of that cloud and to no others, whatever a document says.
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

  /// Whether a redirect names this issuer (RFC 9207). `{tenantid}` in it stands for one of its tenants.
  func isIssuer(_ text: String) -> Bool {
    guard let place = issuer.firstRange(of: "{tenantid}") else { return text == issuer }
    let (start, end) = (issuer[..<place.lowerBound], issuer[place.upperBound...])
    guard text.hasPrefix(start), text.hasSuffix(end), text.utf8.count > start.utf8.count + end.utf8.count
    else { return false }
    return !text.dropFirst(start.count).dropLast(end.count).contains("/")
  }

  /// Who must have issued the ID token: whom the redirect named, where it did.
  func issuer(named name: String?) -> String { name.flatMap { isIssuer($0) ? $0 : nil } ?? issuer }

  /// An OpenID Connect provider's issuer must be the address that was asked (RFC 8414 section 3.3). MSAL
  /// accepts any issuer on the same host, and Microsoft's own.
  private static func check(
    issuer: String, of authority: Authority, in clouds: CloudInstances
  ) throws(IdentityError) {
    guard let host = HTTPSAddress(issuer)?.host,
      host == authority.host || clouds.contains(host) || isRegionOfKnownHost(host, in: clouds)
        || [".b2clogin.com", ".ciamlogin.com"].contains(where: host.hasSuffix)
    else { throw .authorityValidationFailed("The authority's issuer is another server.") }
  }

  private static func isRegionOfKnownHost(_ host: String, in clouds: CloudInstances) -> Bool {
    host.firstIndex(of: ".").map { clouds.contains(String(host[host.index(after: $0)...])) } ?? false
  }

  /// Microsoft's documents do not always name the endpoint, but it stands beside that for tokens.
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
