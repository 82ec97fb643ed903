/// The `claims` parameter (OpenID Connect Core section 5.5), as far as the lab uses it.
struct ClaimsRequest: Sendable {
  let capabilities: [String]
  /// What is requested in the access token.
  let accessToken: [String: JSON]
  let wantsAuthenticationTime: Bool

  init(_ text: String?) throws(LabError) {
    guard let json: JSON = try? decodeJSON((text ?? "{}").utf8), json.object != nil else {
      throw .invalidRequest(9_002_313, "Invalid request. The claims parameter is malformed.")
    }
    accessToken = json["access_token"]?.object ?? [:]
    capabilities = accessToken["xms_cc"]?["values"]?.array?.compactMap(\.string) ?? []
    wantsAuthenticationTime = json["id_token"]?["auth_time"] != nil
  }

  /// Whether the client supports claims challenges, and so gets long-lived tokens that can be revoked at once.
  var isContinuouslyEvaluated: Bool { capabilities.contains { $0.lowercased() == "cp1" } }
}
