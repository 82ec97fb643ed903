import FoundationEssentials
import GLibSupport
import HTTPSupport
import TokenCache

/// One sign-in on another device (RFC 8628).
struct DeviceFlow: Sendable {
  let request: DeviceCodeRequest
  let resolved: ResolvedRequest

  /// How much longer the interval gets on `slow_down` (RFC 8628 section 3.5).
  private static let slowDown = Duration.seconds(5)

  func token() async throws(IdentityError) -> AuthenticationResult {
    let client = resolved.client
    let metadata = try await client.metadata(of: resolved.authority)
    guard let endpoint = metadata.deviceAuthorizationEndpoint else {
      throw IdentityError(
        .invalidParameter, "The authority does not support sign-in on another device.",
        advice: "Sign in in a browser.")
    }
    var ask = resolved.tokenRequest([:], to: endpoint, .deviceCode)
    ask.form = ["client_id": client.configuration.clientID, "scope": resolved.scopes.parameter()]
    ask.form["claims"] = resolved.claims
    ask.countsInTelemetry = false
    let start = client.timing.uptime()
    let authorization = try DeviceAuthorization(try await ask.send(), now: client.now())
    await request.show(authorization.code)

    let grant = [
      "device_code": authorization.deviceCode,
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
    ]
    var poll = resolved.tokenRequest(grant, to: metadata.tokenEndpoint, .deviceCode)
    poll.countsInTelemetry = false
    // The next poll waits for the interval, also after a failure (RFC 8628, section 3.5).
    poll.isRepeatable = false
    var interval = authorization.code.interval
    var pause = interval
    while true {
      guard client.timing.uptime() + pause < start + authorization.lifetime else {
        throw IdentityError(.deviceCodeExpired, "The code was not entered in time.")
      }
      try await client.timing.wait(pause)
      if Task.isCancelled { throw .cancelled }
      let fields: JSONObject
      do throws(IdentityError) {
        fields = try await poll.send()
      } catch {
        let isPending = error.isRefusal("authorization_pending")
        // An invalid response is a proxy's.
        guard isPending || error.isRefusal("slow_down") || error.isOutage || error.code == .invalidResponse
        else { throw error }
        // The interval also gets longer if the server fails or cannot be reached.
        if !isPending { interval += Self.slowDown }
        let asked = min(error.secondsToWait(at: client.now()) ?? 0, Throttle.longestPause)
        pause = max(interval, .seconds(asked))
        // If the requested pause outlasts the code, the server's own error is reported.
        if pause > interval, client.timing.uptime() + pause >= start + authorization.lifetime {
          guard isPending else { throw error }
          pause = interval
        }
        continue
      }
      let result = try await GrantResponse(
        request: resolved, authority: metadata.authority, issuer: metadata.issuer
      ).result(of: fields)
      client.throttle.removeInteractionRequired()
      return result
    }
  }
}

/// The response of a device authorization endpoint, with its numbers limited and its texts made printable.
private struct DeviceAuthorization: Sendable {
  let deviceCode: String
  let code: DeviceCode
  let lifetime: Duration

  init(_ fields: JSONObject, now: Date) throws(IdentityError) {
    func text(_ name: String) -> String? { fields[name]?.stringValue.nonBlank }
    func number(_ name: String) -> Double? {
      // Servers write a number or a string.
      fields[name]?.numberValue.flatMap { $0 > 0 ? $0 : nil }
    }
    guard let deviceCode = text("device_code"), let userCode = text("user_code")?.printable(limit: 100),
      // Some servers still use the name in the drafts.
      let address = text("verification_uri") ?? text("verification_url")
    else { throw IdentityError(.invalidResponse, "The server's response has no device code.") }
    guard let page = HTTPSAddress(address)?.url else {
      throw IdentityError(
        .invalidResponse, "The server sends people to a page without TLS, which is not shown.")
    }
    self.deviceCode = deviceCode
    // Entra ID's codes last for 15 minutes. A server cannot make the client wait for hours or poll without a pause.
    let seconds = number("expires_in").map { min($0, 3600) } ?? 900
    lifetime = .seconds(seconds)
    let message =
      text("message")?.printable()
      ?? "To sign in, open \(page.absoluteString) and enter the code \(userCode)."
    code = DeviceCode(
      userCode: userCode, verificationURI: page, message: message,
      expiresOn: now.addingTimeInterval(seconds),
      interval: .seconds(number("interval").map { min(max($0, 1), 60) } ?? 5))
  }
}
