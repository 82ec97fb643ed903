import ArgumentParser
import FoundationEssentials
import GLibSupport
import IdentityClient
import Lending
import TokenCache

struct GitCredential: AsyncParsableCommand, SignsIn, Borrows {
  static let configuration = CommandConfiguration(
    commandName: "git-credential",
    abstract: "Give git a token for Azure DevOps.",
    discussion: """
      A credential helper as gitcredentials(7) describes it, for dev.azure.com and *.visualstudio.com. For \
      any other host it prints nothing. It stores nothing for git. A token that git reports as refused is \
      removed from the cache. Sign in first with "llavero login", and with this scope:

        \(scope)

      The account is that of git's user name, if it has an "@": with several accounts, set \
      credential.https://dev.azure.com.username. The tenant is the one that the server names (git 2.41).

      Example:
        git config --global credential.https://dev.azure.com.helper \\
          '!llavero git-credential'
        git config --global 'credential.https://*.visualstudio.com.helper' \\
          '!llavero git-credential'
      """)

  /// Everything of Azure DevOps.
  private static let scope = "499b84ac-1321-427f-aa17-267ca6975798/.default"

  @Argument(help: "git's operation: get or erase. Others are ignored.", completion: .list(["get", "erase"]))
  var operation: String

  @OptionGroup var account: AccountOptions
  @OptionGroup var verbosity: VerbosityOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup(title: "Client options") var lenderOptions: LenderOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  var signInScopes: [String] { [Self.scope] }

  mutating func run() async throws {
    guard ["get", "erase"].contains(operation), let request = GitCredentialRequest(try readInput("-"))
    else { return }
    // What git says is about this repository; the environment and the configuration are not.
    account.account = account.account ?? request.username
    if appOptions.tenant == nil, let authority = try? namedAuthority, authority.kind == .aad {
      appOptions.tenant = request.tenant(at: authority)
    }
    if operation == "get" {
      request.answer(try await token())
    } else if let token = request.token {
      guard let lender = try store.lender else { return try await remove(token) }
      // The lender has another one ready then, if this is the one in its cache. Only a hash of it is sent.
      let terms = try await lender.terms()
      _ = try? await lender.knowing(terms).tokenSilently(
        BrokerRequest(
          clientID: terms.clientID, authority: terms.authority, scopes: [Self.scope], account: terms.account,
          isForced: true, tokenToReplace: token, correlationID: UUID()))
    }
  }

  private func token() async throws -> AuthenticationResult {
    do {
      return try await token(scopes: [Self.scope])
    } catch let failure as Failure where failure.name == Failure.ambiguous {
      throw Failure(
        failure.name, failure.message, code: failure.code,
        advice: sentences(
          failure.advice, "Or for git: git config --global credential.https://dev.azure.com.username NAME"))
    }
  }

  /// Removes a refused token from the cache.
  private func remove(_ token: String) async throws {
    let cache = try cache
    try? await replaceAtBroker(token, cache)
    do throws(CacheError) {
      try await cache.removeAccessToken(token)
    } catch {
      // "get" does without a store, too.
      guard broker.policy == .required, error.code != .cancelled else { throw error }
    }
  }

  /// Gets another token in place of a refused one of the broker, which would return that one again once it is removed. A
  /// token that is not in the cache is not sent.
  private func replaceAtBroker(_ token: String, _ cache: TokenCacheAccessor) async throws {
    guard broker.policy != .off else { return }
    let client = try publicClient(broker: broker.policy, cache: cache)
    let account = try await client.account(named: account.named)
    guard account.isBrokers else { return }
    var request = SilentRequest(scopes: [Self.scope], account: account)
    guard try await client.acquireTokenFromCache(request)?.accessToken == token else { return }
    request.forceRefresh = true
    _ = try await networkClient(broker: broker.policy, cache: cache).token(request)
  }
}

/// A request of git for a repository of Azure DevOps: lines of `name=value`.
private struct GitCredentialRequest {
  /// Whether git takes a token as such (git 2.46), not only as a password.
  private let takesTokens: Bool
  let token: String?
  /// The user name of an account. The name of an organization, which clone addresses have in its place, is not one.
  let username: String?
  /// The authorization server's addresses of the server's challenge.
  private let challenges: [URL]

  /// `nil` for any other host.
  init?(_ input: Data) {
    let lines = String(decoding: input, as: UTF8.self).split(separator: "\n")
    func value(_ name: String) -> String? {
      lines.last { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    // Git passes on any text of a URL, also one that ends the host for other programs, such as in
    // `evil.example/.visualstudio.com`.
    let azureDevOps = /dev\.azure\.com|(?:[a-z0-9-]+\.)+visualstudio\.com/.matchingSemantics(.unicodeScalar)
    guard value("protocol")?.lowercased() == "https",
      value("host")?.lowercased().wholeMatch(of: azureDevOps) != nil
    else { return nil }
    token = value("credential") ?? value("password")
    takesTokens = lines.contains("capability[]=authtype")
    username = value("username").flatMap { $0.contains("@") ? $0 : nil }
    challenges = lines.filter { $0.hasPrefix("wwwauth[]=") }.compactMap {
      $0.firstMatch(of: /authorization_uri="?([^",\s]+)/).flatMap { URL(string: String($0.output.1)) }
    }
  }

  /// The tenant whose tokens the server takes; `nil` if it names none of this cloud.
  func tenant(at authority: Authority) -> String? {
    let named = challenges.compactMap { try? Authority(url: $0) }.first {
      CloudInstances.known.canonical(authority.host) == CloudInstances.known.canonical($0.host)
        && !$0.namesManyTenants
    }
    // That of organizations without one.
    return named?.tenant.flatMap { $0.contains { $0 != "0" && $0 != "-" } ? $0 : nil }
  }

  /// Gives git a token, unless it is invalid.
  func answer(_ result: AuthenticationResult) {
    if username != nil, result.account.username != nil, [result.account].named(username).isEmpty { return }
    // A line break would begin another line of the response.
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
