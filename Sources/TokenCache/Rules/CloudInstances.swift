/// One cloud of Microsoft's identity platform, as instance discovery describes it.
public struct CloudInstance: Sendable, Hashable {
  /// The host for requests.
  public var preferredNetwork: String
  /// The host in the cache.
  public var preferredCache: String
  /// Every host of the cloud.
  public var aliases: [String]

  public init(preferredNetwork: String, preferredCache: String, aliases: [String]) {
    self.preferredNetwork = preferredNetwork
    self.preferredCache = preferredCache
    self.aliases = aliases
  }

  package var hosts: [String] { aliases + [preferredNetwork, preferredCache] }
}

/// Which hosts name the same cloud: records that differ only in such hosts are the same.
public struct CloudInstances: Sendable {
  private var byHost: [String: CloudInstance] = [:]

  /// - Parameter instances: Later ones win over earlier ones with the same host.
  public init(_ instances: [CloudInstance]) { instances.forEach { insert($0) } }

  /// Adds a result of instance discovery.
  public mutating func insert(_ instance: CloudInstance) {
    for host in instance.hosts { byHost[host.normalized] = instance }
  }

  /// The hosts of one cloud: the cache's first, then the given one. For an unknown cloud, only the host.
  public func aliases(of host: String) -> [String] {
    guard let instance = byHost[host.normalized] else { return [host.normalized] }
    return ([host] + instance.hosts).reduce(into: [instance.preferredCache.normalized]) { hosts, other in
      if !hosts.contains(other.normalized) { hosts.append(other.normalized) }
    }
  }

  /// Whether a host belongs to a known cloud.
  public func contains(_ host: String) -> Bool { byHost[host.normalized] != nil }

  /// The host for requests to a cloud.
  public func preferredNetwork(of host: String) -> String {
    byHost[host.normalized]?.preferredNetwork.normalized ?? host.normalized
  }

  /// The host that stands for a cloud in the cache.
  public func preferredCache(of host: String) -> String { canonical(host) }

  /// The host by which all hosts of a cloud are compared.
  public func canonical(_ host: String) -> String {
    let host = host.normalized
    return byHost[host]?.preferredCache.normalized ?? host
  }

  /// The clouds that the MSAL libraries know without discovery.
  public static let known = CloudInstances(KnownCloud.all.map(\.instance))
}

/// A cloud that the MSAL libraries know without discovery.
package struct KnownCloud: Sendable, Hashable {
  /// The host by which MSAL's `MSALAzureCloudInstance` names it.
  package let host: String
  package let instance: CloudInstance
  /// The hosts of its Microsoft Graph, the usual one first.
  package let graphHosts: [String]

  private init(
    _ host: String, network: String? = nil, cache: String? = nil, others: [String] = [], graph: [String] = []
  ) {
    let network = network ?? host
    let cache = cache ?? network
    let hosts = [network, host, cache] + others
    self.host = host
    instance = CloudInstance(
      preferredNetwork: network, preferredCache: cache,
      aliases: hosts.enumerated().filter { hosts.firstIndex(of: $1) == $0 }.map(\.element))
    graphHosts = graph
  }

  package static let worldwide = KnownCloud(
    "login.microsoftonline.com", cache: "login.windows.net",
    others: ["login.microsoft.com", "sts.windows.net"], graph: ["graph.microsoft.com"])
  package static let china = KnownCloud(
    "login.chinacloudapi.cn", network: "login.partner.microsoftonline.cn",
    graph: ["microsoftgraph.chinacloudapi.cn"])
  package static let usGovernment = KnownCloud(
    "login.microsoftonline.us", others: ["login.usgovcloudapi.net"],
    graph: ["graph.microsoft.us", "dod-graph.microsoft.us"])

  /// In the order of `MSALAzureCloudInstance`, then those that it lacks. Of the last two no Graph is known; the older one of
  /// Germany was closed in 2021.
  package static let all = [
    worldwide, china, KnownCloud("login.microsoftonline.de"), usGovernment,
    KnownCloud("login.sovcloud-identity.fr", graph: ["graph.svc.sovcloud.fr"]),
    KnownCloud("login.sovcloud-identity.de", graph: ["graph.svc.sovcloud.de"]),
    KnownCloud("login.sovcloud-identity.sg", graph: ["graph.svc.sovcloud.sg"]),
    KnownCloud("login-us.microsoftonline.com"),
    KnownCloud("login.windows-ppe.net", others: ["sts.windows-ppe.net", "login.microsoft-ppe.com"]),
  ]

  /// How the hosts of Azure AD B2C and of External ID end, each of which has a tenant in its name.
  package static let b2cSuffix = ".b2clogin.com"
  package static let externalIDSuffix = ".ciamlogin.com"

  package static let graphHosts = all.flatMap(\.graphHosts)

  package static func cloud(of host: String) -> KnownCloud? {
    all.first { $0.instance.hosts.contains(host.normalized) }
  }
}
