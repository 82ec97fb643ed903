import FoundationEssentials
import HTTPSupport
import TokenCache

/// The response of a device authorization endpoint, with its numbers limited and its texts made printable.
struct DeviceAuthorization: Sendable {
  let deviceCode: String
  let code: DeviceCode
  let lifetime: Duration

  /// - Throws: ``IdentityError/Code/invalidResponse``.
  init(_ fields: JSONObject, now: Date) throws(IdentityError) {
    func text(_ name: String) -> String? { fields[name]?.stringValue.nonBlank }
    func number(_ name: String) -> Double? {
      // Servers write it as a number or as a string.
      fields[name]?.numberValue.flatMap { $0 > 0 ? $0 : nil }
    }
    guard let deviceCode = text("device_code"), let userCode = text("user_code")?.printable(limit: 100),
      // Some servers still have the name of the drafts.
      let address = text("verification_uri") ?? text("verification_url")
    else {
      throw IdentityError(.invalidResponse, "The server's response has no device code.")
    }
    guard let page = HTTPSAddress(address)?.url else {
      throw IdentityError(
        .invalidResponse, "The server sends people to a page without TLS, which is not shown.")
    }
    self.deviceCode = deviceCode
    // Entra ID's codes last for 15 minutes. A server can demand neither hours of waiting nor polling without a pause.
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
