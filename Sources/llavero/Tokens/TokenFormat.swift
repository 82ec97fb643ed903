import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient
import TokenCache

/// The formats of a printed token, one for each kind of program that reads it.
enum TokenFormat: String, Choice, Sendable {
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

  /// Formats a token, without a line break at the end.
  func text(of result: AuthenticationResult) throws -> String {
    guard result.isWellFormed else {
      throw Failure(
        "invalid_token", "The access token has invalid characters.",
        advice: "Get a new one with --force-refresh.")
    }
    return switch self {
    case .bare: result.accessToken
    case .header: "Authorization: " + result.authorizationHeader
    case .json:
      try llavero.json(
        [
          "access_token": result.accessToken, "token_type": result.tokenType,
          "warnings": result.storageWarning.map { [$0] },
        ] + result.members)
    case .az:
      // `expiresOn` is local time without a zone; readers prefer `expires_on`.
      try llavero.json(
        [
          "accessToken": result.accessToken, "tokenType": result.tokenType, "tenant": result.tenantID,
          "expiresOn": result.expiresOn.map(Self.localTime),
          "expires_on": result.expiresOn.map { Int($0.timeIntervalSince1970) },
        ], names: .useDefaultKeys)
    case .azd:
      try llavero.json(
        ["token": result.accessToken, "expiresOn": result.expiresOn], names: .useDefaultKeys)
    case .execCredential:
      try llavero.json(
        [
          "kind": "ExecCredential", "apiVersion": Self.kubernetesVersion(),
          "spec": ["interactive": false],
          "status": ["expirationTimestamp": result.expiresOn, "token": result.accessToken] as Members,
        ], names: .useDefaultKeys)
    }
  }

  private static func localTime(_ date: Date) -> String {
    var moment = time_t(date.timeIntervalSince1970)
    var parts = unsafe tm()
    unsafe localtime_r(&moment, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = unsafe strftime(&text, text.count, "%Y-%m-%d %H:%M:%S.000000", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The version of kubectl's API that it asks for in the environment; the response must be of the same one.
  /// https://kubernetes.io/docs/reference/access-authn-authz/authentication/
  private static func kubernetesVersion() throws(Failure) -> String {
    let versions = ["v1beta1", "v1"].map { "client.authentication.k8s.io/" + $0 }
    let request = processEnvironment()["KUBERNETES_EXEC_INFO"] ?? ""
    if request.isEmpty { return versions[0] }
    let asked = try? JSONObject(foreign: Data(request.utf8), within: .response)["apiVersion"]?.stringValue
    if let asked, versions.contains(asked) { return asked }
    throw Failure(
      "invalid_exec_info", "KUBERNETES_EXEC_INFO asks for an unknown version.", code: .usage,
      advice: "Known versions: \(versions.joined(separator: " and ")).")
  }
}

/// A query of `az` for members of its output, such as `accessToken` or `[accessToken, expiresOn]`.
struct AzureQuery: ExpressibleByArgument, Sendable {
  static let members = ["accessToken", "expiresOn", "expires_on", "tenant", "tokenType"]

  private let names: [String]
  private let isList: Bool

  init?(argument: String) {
    isList = argument.hasPrefix("[") && argument.hasSuffix("]")
    names = (isList ? argument.dropFirst().dropLast() : argument[...]).split { ", ".contains($0) }.map(
      String.init)
    guard isList || names.count == 1, names.allSatisfy(Self.members.contains) else { return nil }
  }

  /// The members in JSON or, as `--output tsv` prints them, one a line.
  func text(of result: AuthenticationResult, isTSV: Bool) throws -> String {
    let all = try JSONObject(foreign: Data(TokenFormat.az.text(of: result).utf8), within: .response)
    let values = names.map { all[$0] ?? .null }
    guard isTSV else { return try json(isList ? .array(values) : values[0], names: .useDefaultKeys) }
    return try values.map { try $0.stringValue ?? json($0, names: .useDefaultKeys) }.joined(separator: "\n")
  }
}

extension AuthenticationResult {
  /// Whether the token has only the characters of RFC 6749 appendix A.12. A line break would begin another header field, or
  /// another line of a response.
  var isWellFormed: Bool {
    !accessToken.isEmpty && (tokenType + accessToken).utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  var tenantID: String? { tenantProfile?.tenantID ?? authority.tenant }
}
