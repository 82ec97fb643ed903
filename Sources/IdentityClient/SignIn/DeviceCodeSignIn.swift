import FoundationEssentials
import Logging
import TokenCache

/// One sign-in on another device (RFC 8628).
struct DeviceCodeSignIn: Sendable {
  let client: PublicClient
  let request: DeviceCodeRequest
  let proof: PopProof?

  private var configuration: ClientConfiguration { client.configuration }

  /// By how much the server slows the client down (RFC 8628 section 3.5).
  private static let slowDown = Duration.seconds(5)

  func run() async throws(IdentityError) -> AuthenticationResult {
    let authority = request.authority ?? configuration.authority
    let scopes = try RequestedScopes(request.scopes, client: configuration, authority: authority)
    let claims = try configuration.claimsParameter(request.claims)
    let extra = try configuration.extraParameters(request.extraQueryParameters)
    let metadata = try await client.resolver.metadata(of: authority)
    guard let endpoint = metadata.deviceAuthorizationEndpoint else {
      throw IdentityError(
        .invalidParameter, "The authority knows no sign-in on another device.",
        advice: "Sign in in a browser.")
    }
    var form = ["client_id": configuration.clientID, "scope": scopes.parameter()]
    form["claims"] = claims
    var ask = TokenEndpoint.Request(
      url: endpoint, form: form, query: extra, correlationID: request.correlationID, call: .deviceCode,
      isMicrosofts: authority.isMicrosofts, countsInTelemetry: false)
    let asked = client.timing.uptime()
    let answer = try DeviceAuthorization(try await client.tokenEndpoint.send(ask), now: client.now())
    await request.show(answer.code)

    ask.url = metadata.tokenEndpoint
    ask.form = configuration.tokenForm(
      [
        "device_code": answer.deviceCode, "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
      ], claims: claims, for: authority, proof)
    let fields = try await poll(ask, answer, until: asked + answer.lifetime)
    let grant = TokenGrant(
      client: client, authority: metadata.authority, issuer: metadata.issuer, requestedAuthority: authority,
      scopes: scopes, correlationID: request.correlationID, requestedClaims: request.claims, proof: proof)
    let result = try await grant.result(of: fields)
    client.throttle.removeInteractionRequired()
    return result
  }

  /// Polls until the person is done, the code has expired, or the server refuses finally.
  private func poll(
    _ ask: TokenEndpoint.Request, _ answer: DeviceAuthorization, until end: Duration
  ) async throws(IdentityError) -> JSONObject {
    var interval = answer.code.interval
    while true {
      guard client.timing.uptime() + interval < end else {
        throw IdentityError(
          .deviceCodeExpired, "Nobody entered the code in time.", advice: "Start the sign-in again.")
      }
      try await client.timing.wait(interval)
      if Task.isCancelled { throw .cancelled }
      do {
        return try await client.tokenEndpoint.send(ask)
      } catch {
        if error.isRefusal("authorization_pending") { continue }
        // An answer that cannot be read is a proxy's.
        guard error.isRefusal("slow_down") || error.isOutage || error.code == .invalidResponse else {
          throw error
        }
        // A server that fails or cannot be reached is asked less often too.
        interval += Self.slowDown
      }
    }
  }
}

/// What a device authorization endpoint answered, with numbers that make sense and texts that can be shown.
struct DeviceAuthorization: Sendable {
  let deviceCode: String
  let code: DeviceCode
  let lifetime: Duration

  /// - Throws: ``IdentityError/Code/invalidResponse``.
  init(_ fields: JSONObject, now: Date) throws(IdentityError) {
    guard let deviceCode = fields["device_code"]?.stringValue.nonBlank,
      let userCode = fields["user_code"]?.stringValue.nonBlank?.printable(limit: 100),
      // Some servers still have the name of the drafts.
      let address = (fields["verification_uri"] ?? fields["verification_url"])?.stringValue.nonBlank
    else {
      throw IdentityError(.invalidResponse, "The server's answer has no device code.")
    }
    guard let uri = URL(string: address), uri.scheme?.lowercased() == "https", uri.authorityHost != nil else {
      throw IdentityError(
        .invalidResponse, "The server sends people to a page without TLS, which is not shown.")
    }
    self.deviceCode = deviceCode
    // Entra ID's codes last for 15 minutes. A server can demand neither hours of waiting nor polling without a pause.
    let seconds = Self.number(fields["expires_in"]).map { min($0, 3600) } ?? 900
    lifetime = .seconds(seconds)
    let message =
      fields["message"]?.stringValue.nonBlank?.printable()
      ?? "To sign in, open \(uri.absoluteString) and enter the code \(userCode)."
    code = DeviceCode(
      userCode: userCode, verificationURI: uri, message: message,
      expiresOn: now.addingTimeInterval(seconds),
      interval: .seconds(Self.number(fields["interval"]).map { min(max($0, 1), 60) } ?? 5))
  }

  /// A positive number; servers write it as a number or as a string.
  private static func number(_ value: JSONValue?) -> Double? {
    value?.numberValue.flatMap { $0 > 0 ? $0 : nil }
  }
}
