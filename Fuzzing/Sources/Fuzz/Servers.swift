import FoundationEssentials
@testable import HTTPSupport
import HTTPTypes
@testable import IdentityClient
@testable import TokenCache

/// Whatever a token endpoint answers becomes records or a refusal; texts of a refusal drive no terminal.
@Sendable func fuzzTokenResponse(_ input: Data) {
  guard let first = input.first else { return }
  let status = [200, 400, 401, 429, 500, 302][Int(first) % 6]
  let answer = HTTPTransportResponse(HTTPResponse(status: .init(code: status)), body: input.dropFirst())
  let now = Date(timeIntervalSince1970: 1_800_000_000)
  do throws(IdentityError) {
    let response = TokenResponse(fields: try answer.fields())
    if let token = response.idToken {
      let check = IDTokenCheck(
        clientID: "client", issuer: "https://login.example/{tenantid}", nonce: nil, now: now,
        checksTimes: true)
      _ = try? check.claims(of: token)
    }
    let request = TokenRequest(environment: "login.example", clientID: "client", homeAccountID: "u.t")
    guard let records = try? TokenRecords(response, for: request, at: now) else { return }
    let token = records.accessToken
    require(token?.expiresOn.map { $0 > .distantPast && $0 < .distantFuture } ?? true, "An absurd time.")
    var document = CacheDocument()
    for credential in [records.accessToken, records.idToken].compactMap(\.self) + records.refreshTokens {
      document[credential.credentialType.section][credential.serializedKey] = credential
    }
    guard let json = try? document.json(), let again = try? CacheDocument(json: json) else {
      fatalError("The records cannot be written and read.")
    }
    require(again == document, "A rewrite changed the records.")
  } catch {
    let texts = [error.message, error.oauthError, error.subError, error.oauthErrorDescription, error.advice]
    for text in texts.compactMap(\.self) { requirePrintable(text) }
  }
}

/// A discovery document leads nowhere but over https, and at a known cloud only to its hosts.
@Sendable func fuzzDiscovery(_ input: Data) {
  guard
    let answer = try? HTTPTransportResponse(HTTPResponse(status: .ok), body: input).fields(),
    let oidc = URL(string: "https://issuer.example:8443/path")
  else { return }
  let clouds = CloudInstances.known
  let own = try? Authority(url: oidc, kind: .oidc)
  for authority in [Authority.default, own].compactMap(\.self) {
    guard let metadata = try? AuthorityMetadata(answer, of: authority, in: clouds) else { continue }
    let endpoints = [
      metadata.authorizationEndpoint, metadata.tokenEndpoint, metadata.deviceAuthorizationEndpoint,
      metadata.endSessionEndpoint,
    ]
    for endpoint in endpoints.compactMap(\.self) {
      require(endpoint.scheme?.lowercased() == "https", "An endpoint without TLS: \(endpoint)")
      if authority == .default {
        require(clouds.contains(endpoint.authorityHost ?? ""), "A token would go to \(endpoint)")
      }
    }
  }
}

/// What a resource asks for is a JSON object.
@Sendable func fuzzChallenge(_ input: Data) {
  let fields = input.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  guard let challenge = ClaimsChallenge(wwwAuthenticate: fields) else { return }
  require(
    (try? JSONObject(foreign: Data(challenge.claims.utf8), within: .response)) != nil,
    "The claims are no JSON.")
  _ = try? ClaimsRequest(json: challenge.claims)
}

/// An address is the authority's own, normalised: https, no user, no way out of its path.
@Sendable func fuzzAuthority(_ input: Data) {
  guard let url = URL(string: String(decoding: input, as: UTF8.self)) else { return }
  var found: [Authority] = []
  if let authority = try? Authority(url: url) { found.append(authority) }
  found += Authority.Kind.allCases.compactMap { try? Authority(url: url, kind: $0) }
  for authority in found {
    require(authority.url.scheme == "https" && authority.url.user == nil, "Not https, or with a user.")
    require(authority.url.authorityHost == authority.host, "The host changed: \(authority.host)")
    require((try? Authority(url: authority.url, kind: authority.kind)) == authority, "Not normalised.")
    _ = try? authority.replacingTenant(with: String(decoding: input.suffix(20), as: UTF8.self))
  }
}

func requirePrintable(_ text: String) {
  for scalar in text.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
      fatalError("Text drives a terminal.")
    default: continue
    }
  }
}
