import ArgumentParser
import FoundationEssentials
import Glibc
import IdentityClient
import TokenCache

/// The formats of a printed token, one for each kind of program that reads it.
enum TokenFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// The token alone.
  case bare
  case json
  /// A header field of HTTP.
  case header
  /// What `az account get-access-token --output json` prints.
  case az
  /// What `azd auth token --output json` prints.
  case azd
  /// What kubectl reads from an exec credential plugin.
  case execCredential = "exec-credential"

  /// Formats a token.
  ///
  /// - Parameters:
  ///   - result: The token.
  ///   - environment: The process's, in which kubectl names its API version.
  /// - Returns: The text, without a line break at its end.
  /// - Throws: `Failure.Message` for an invalid token, and of code `usage` for an unknown version.
  func text(of result: AuthenticationResult, environment: [String: String]) throws -> String {
    guard result.isWellFormed else {
      throw Failure.Message(
        name: "invalid_token", message: "The access token has invalid characters.",
        advice: "Get a new one with --force-refresh.")
    }
    return switch self {
    case .bare: result.accessToken
    case .header: "Authorization: " + result.authorizationHeader
    case .json:
      try llavero.json(
        TokenReport(
          accessToken: result.accessToken, tokenType: result.tokenType, expiresOn: result.expiresOn,
          scopes: result.scopes, homeAccountId: result.account.homeAccountID,
          username: result.account.username, tenantId: result.tenantID,
          warnings: result.cacheError.map { ["The new token could not be stored: \($0)"] }))
    case .az: try llavero.json(AzureCLIToken(result), names: .useDefaultKeys)
    case .azd:
      try llavero.json(
        AzureDeveloperCLIToken(token: result.accessToken, expiresOn: result.expiresOn),
        names: .useDefaultKeys)
    case .execCredential:
      try llavero.json(
        ExecCredential(result, request: environment["KUBERNETES_EXEC_INFO"] ?? ""), names: .useDefaultKeys)
    }
  }
}

private struct TokenReport: Encodable {
  let accessToken: String
  let tokenType: String
  let expiresOn: Date?
  let scopes: [String]
  let homeAccountId: String
  let username: String?
  let tenantId: String?
  let warnings: [String]?
}

private struct AzureCLIToken: Encodable {
  let accessToken: String
  /// Local time without a zone; readers prefer the next member.
  let expiresOn: String?
  let expires_on: Int?
  let tenant: String?
  let tokenType: String

  init(_ result: AuthenticationResult) {
    accessToken = result.accessToken
    tokenType = result.tokenType
    tenant = result.tenantID
    expires_on = result.expiresOn.map { Int($0.timeIntervalSince1970) }
    expiresOn = expires_on.map(Self.localTime)
  }

  private static func localTime(_ seconds: Int) -> String {
    var moment = time_t(seconds)
    var parts = unsafe tm()
    unsafe localtime_r(&moment, &parts)
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = unsafe "\(parts.tm_year + 1900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
    let time = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(digits).joined(separator: ":")
    return "\(date) \(time).000000"
  }
}

private struct AzureDeveloperCLIToken: Encodable {
  let token: String
  let expiresOn: Date?
}

/// `client.authentication.k8s.io`: https://kubernetes.io/docs/reference/access-authn-authz/authentication/
private struct ExecCredential: Encodable {
  struct Request: Decodable {
    let apiVersion: String
  }
  struct Specification: Encodable {
    let interactive = false
  }
  struct Status: Encodable {
    let expirationTimestamp: Date?
    let token: String
  }

  let kind = "ExecCredential"
  let apiVersion: String
  let spec = Specification()
  let status: Status

  private static let versions = ["v1beta1", "v1"].map { "client.authentication.k8s.io/" + $0 }

  /// - Parameters:
  ///   - result: The token.
  ///   - request: The value of KUBERNETES_EXEC_INFO; the response must be of the same version.
  /// - Throws: `Failure.Message` of code `usage` for another version.
  init(_ result: AuthenticationResult, request: String) throws(Failure.Message) {
    let asked =
      request.isEmpty
      ? Self.versions.first : (try? JSONDecoder().decode(Request.self, from: Data(request.utf8)))?.apiVersion
    guard let asked, Self.versions.contains(asked) else {
      throw Failure.Message(
        code: .usage, name: "invalid_exec_info",
        message: "KUBERNETES_EXEC_INFO asks for an unknown version.",
        advice: "Known versions: \(Self.versions.joined(separator: " and ")).")
    }
    apiVersion = asked
    status = Status(expirationTimestamp: result.expiresOn, token: result.accessToken)
  }
}

extension AuthenticationResult {
  /// Whether the token has only the characters of RFC 6749 appendix A.12. A line break would begin another header field, or
  /// another line of a response.
  var isWellFormed: Bool {
    !accessToken.isEmpty && (tokenType + accessToken).utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// The tenant that issued the token.
  var tenantID: String? { tenantProfile?.tenantID ?? authority.tenant }
}
