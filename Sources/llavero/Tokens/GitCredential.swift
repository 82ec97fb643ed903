import ArgumentParser
import FoundationEssentials
import IdentityClient
import TokenCache

struct GitCredential: AsyncParsableCommand, SignsIn {
  static let configuration = CommandConfiguration(
    commandName: "git-credential",
    abstract: "Give git a token for Azure DevOps.",
    discussion: """
      A credential helper as gitcredentials(7) describes it. It answers for dev.azure.com and \
      *.visualstudio.com, and is silent for any other host. Nothing is stored for git: sign in with \
      "llavero login --scope \(scope)". A token that git says was refused is removed, so that the next one is new.

      Example:
        git config --global credential.https://dev.azure.com.helper '!llavero git-credential'
      """)

  /// Everything of Azure DevOps.
  private static let scope = "499b84ac-1321-427f-aa17-267ca6975798/.default"

  @Argument(help: "What git wants: get or erase. Anything else is ignored.")
  var operation: String

  @OptionGroup var client: ClientOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var broker: BrokerOptions

  var signInScopes: [String] { [Self.scope] }

  func run() async throws {
    guard ["get", "erase"].contains(operation), let question = GitCredentialQuestion(try Terminal.readInput())
    else { return }
    if operation == "get" {
      question.answer(
        try await client.token(broker: broker.policy, account: account, scopes: [Self.scope]))
    } else if let token = question.token, client.cache.store.socket == nil {
      try await client.cache.cache.removeAccessToken(token)
    }
  }
}

/// A question of git about a repository of Azure DevOps: lines of `name=value`.
private struct GitCredentialQuestion {
  /// Whether git takes a token as such (git 2.46), and not only in a password's place.
  private let takesTokens: Bool
  /// The token that git was given, where it says so.
  let token: String?

  /// - Returns: `nil` for a question about anything else.
  init?(_ input: [UInt8]) {
    let lines = String(decoding: input, as: UTF8.self).split(separator: "\n")
    func value(_ name: String) -> String? {
      lines.last { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    guard value("protocol")?.lowercased() == "https", let host = value("host")?.lowercased(),
      Self.isAzureDevOps(host)
    else { return nil }
    token = value("credential") ?? value("password")
    takesTokens = lines.contains("capability[]=authtype")
  }

  /// Whether a host is one of Azure DevOps. Git passes on whatever stands in an address, also what ends the host for
  /// others, such as in `evil.example/.visualstudio.com`.
  private static func isAzureDevOps(_ host: String) -> Bool {
    if host == "dev.azure.com" { return true }
    guard host.hasSuffix(".visualstudio.com") else { return false }
    return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { $0 == 0x2d || (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
    }
  }

  /// Gives git a token, unless it is invalid.
  func answer(_ result: AuthenticationResult) {
    // A line break would begin another line of the answer.
    let username = result.account.username.flatMap { $0 == printable($0) ? $0 : nil } ?? "llavero"
    let token = result.accessToken
    guard result.isWellFormed else { return }
    var lines =
      takesTokens
      ? ["capability[]=authtype", "authtype=\(result.tokenType)", "credential=\(token)", "ephemeral=1"]
      : ["username=\(username)", "password=\(token)"]
    if let end = result.expiresOn { lines.append("password_expiry_utc=\(Int(end.timeIntervalSince1970))") }
    Terminal.out(lines.joined(separator: "\n"))
  }
}
