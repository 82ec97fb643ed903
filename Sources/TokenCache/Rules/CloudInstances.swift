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
  public static let known = CloudInstances(
    [
      CloudInstance(
        preferredNetwork: "login.microsoftonline.com", preferredCache: "login.windows.net",
        aliases: [
          "login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net",
        ])
    ]
      + [
        ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
        ["login.microsoftonline.us", "login.usgovcloudapi.net"],
        ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"],
        ["login.microsoftonline.de"], ["login-us.microsoftonline.com"], ["login.sovcloud-identity.fr"],
        ["login.sovcloud-identity.de"], ["login.sovcloud-identity.sg"],
      ].map { CloudInstance(preferredNetwork: $0[0], preferredCache: $0[0], aliases: $0) })
}
