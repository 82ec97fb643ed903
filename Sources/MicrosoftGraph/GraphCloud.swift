public import FoundationEssentials
import HTTPSupport
public import IdentityClient
import TokenCache

/// An instance of Microsoft Graph, and the hosts that get its tokens.
///
/// For example:
///
/// ```swift
/// let cloud = GraphCloud.cloud(for: client.configuration.authority)
/// print(cloud?.baseURL ?? GraphCloud.global.baseURL)
/// ```
public struct GraphCloud: Sendable, Hashable {
  /// With the version, such as `https://graph.microsoft.com/v1.0`.
  public let baseURL: URL
  /// The hosts that tokens are sent to, in lower case, with the port if the URL has one.
  public let allowedHosts: Set<String>
  /// The cloud that issues the tokens; `nil` for any.
  private let issuer: KnownCloud?

  /// Microsoft's public cloud, which alone serves personal accounts.
  public static let global = GraphCloud(host: KnownCloud.worldwide.graphHosts[0])
  /// The cloud of the government of the United States: GCC High and the Department of Defense's level 4.
  public static let usGovernment = GraphCloud(host: KnownCloud.usGovernment.graphHosts[0])
  /// The cloud of the Department of Defense's level 5, which has the same authorities as ``usGovernment``.
  public static let usDefense = GraphCloud(host: KnownCloud.usGovernment.graphHosts[1])
  /// The cloud in China, which 21Vianet operates.
  public static let china = GraphCloud(host: KnownCloud.china.graphHosts[0])

  /// Returns the cloud of an authority.
  ///
  /// - Returns: `nil` without a known Graph: for authorities outside Microsoft's clouds, Azure AD B2C and AD FS, whose
  ///   tokens Graph does not accept, and for personal accounts in a national cloud.
  public static func cloud(for authority: Authority) -> GraphCloud? {
    switch authority.kind {
    case .b2c, .adfs, .oidc: return nil
    case .ciam: return authority.host.hasSuffix(KnownCloud.externalIDSuffix) ? global : nil
    case .aad: break
    }
    guard let host = KnownCloud.cloud(of: authority.host)?.graphHosts.first else { return nil }
    let cloud = GraphCloud(host: host)
    let tenant = authority.tenant?.lowercased()
    let isPersonal = tenant == "consumers" || tenant == Tenant.personalAccounts
    return isPersonal && !cloud.servesPersonalAccounts ? nil : cloud
  }

  /// Whether this is a known Graph of the authority's cloud.
  package func serves(_ authority: Authority) -> Bool {
    issuer != nil && issuer == Self.cloud(for: authority)?.issuer
  }

  /// Makes a cloud from a configured URL, such as that in `LLAVERO_GRAPH_URL`.
  ///
  /// - Parameter baseURL: An https URL with the version; without a path, `v1.0` is used.
  /// - Throws: ``GraphError/Code/invalidRequest`` for an invalid URL.
  public init(baseURL: URL) throws(GraphError) {
    guard let host = HTTPSAddress(baseURL)?.host, baseURL.query == nil, baseURL.fragment == nil else {
      throw GraphError(
        .invalidRequest,
        "Invalid URL of Microsoft Graph: expected https without user name, query or fragment.",
        advice: "Use a URL such as https://graph.microsoft.com/v1.0")
    }
    let path = baseURL.path(percentEncoded: true).split(separator: "/")
    self.init(host: host, path: path.isEmpty ? "v1.0" : path.joined(separator: "/"))
  }

  private init(host: String, path: String = "v1.0") {
    // The parts are those of a valid URL; the fallback is never reached.
    baseURL = URL(string: "https://\(host)/\(path)") ?? URL(filePath: "/")
    allowedHosts = [host]
    issuer = KnownCloud.all.first { $0.graphHosts.contains(host) }
  }

  private var servesPersonalAccounts: Bool { issuer == nil || issuer == .worldwide }

  /// Throws if a token belongs to another cloud and must not be sent to this one.
  func check(_ token: AuthenticationResult) throws(GraphError) {
    let host = token.authority.host
    if let issuer, let cloud = KnownCloud.cloud(of: host), cloud != issuer {
      throw GraphError(
        .cloudMismatch, "The token comes from \(host) and is not for \(baseURL.host ?? "").",
        advice: "Make the client with GraphCloud.cloud(for:) and the authority of the token.")
    }
    if !servesPersonalAccounts, Tenant.home(of: token.account.homeAccountID) == Tenant.personalAccounts {
      throw GraphError(
        .cloudMismatch, "A personal account cannot be used with \(baseURL.host ?? "").",
        advice: "Personal accounts are served by graph.microsoft.com only.")
    }
  }
}
