public import FoundationEssentials
import HTTPSupport
import TokenCache

/// An authority: the address of an authorization server that signs people in, reduced to the part that names it.
public struct Authority: Sendable, Hashable {
  /// The kinds of authorization server, as far as they are asked in different ways.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Microsoft Entra ID and personal Microsoft accounts: `https://<host>/<tenant>`.
    case aad
    /// Azure AD B2C: `https://<host>/tfp/<tenant>/<policy>`, also without `tfp`.
    case b2c
    /// Active Directory Federation Services: `https://<host>/adfs`.
    case adfs
    /// Microsoft Entra External ID: `https://<tenant>.ciamlogin.com`, or a domain of one's own.
    case ciam
    /// Any OpenID Connect provider; the address is its issuer.
    case oidc
  }

  public let kind: Kind
  /// The normalised address, without query, fragment and what follows the part that names the authority.
  public var url: URL {
    // An address that was taken apart can be put together again; the fallback is never reached.
    URL(string: address) ?? URL(filePath: "/")
  }
  /// The normalised address as text.
  let address: String
  /// The host in lower case, with the port where the address has one that is not that of https.
  public let host: String
  /// The tenant in the path, as it was written; `nil` for AD FS and OpenID Connect providers.
  public let tenant: String?

  /// What tells the authority's accounts and tokens in the cache from those of others, before anything is known of aliases: the
  /// host. An OpenID Connect provider's, and one of External ID at a domain of its own, has the path as well, since a host may have
  /// several issuers. The case of a path counts, that of the cache's text does not, so that capital letters are encoded.
  public var environment: String {
    guard kind == .oidc || kind == .ciam && !host.hasSuffix(".ciamlogin.com") else { return host }
    let path = address.dropFirst("https://".count + host.count)
    if kind == .ciam { return host + path.lowercased() }
    return path.utf8.reduce(into: host) { text, byte in
      let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      text += isCapital ? "%" + String(byte, radix: 16) : String(UnicodeScalar(byte))
    }
  }

  /// Entra ID for work, school and personal accounts: `https://login.microsoftonline.com/common`.
  public static let `default` = Authority(
    kind: .aad, host: "login.microsoftonline.com", path: ["common"], tenant: "common")

  /// Takes an address whose form says of which kind the authority is. An OpenID Connect provider has to be
  /// named as such; see ``init(url:kind:)``.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an address that is not an authority's.
  public init(url: URL) throws(IdentityError) {
    try self.init(url, kind: nil)
  }

  /// Takes an address as ``init(url:)`` does, from a text.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for a text that is not an authority's address.
  public init(_ address: String) throws(IdentityError) {
    guard let url = URL(string: address) else { throw .invalidAuthority("\"\(address)\" is not a URL.") }
    try self.init(url: url)
  }

  /// Takes an address and the word of the caller for what kind of authority it is.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an address that cannot be one of that kind.
  public init(url: URL, kind: Kind) throws(IdentityError) {
    try self.init(url, kind: kind)
  }

  /// Takes an address of B2C in any form, such as behind a gateway or without a policy. In the usual forms it is reduced as by
  /// ``init(url:kind:)``.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an address without https, host or path.
  package init(anyB2C url: URL) throws(IdentityError) {
    try self.init(url, kind: .b2c, inAnyForm: true)
  }

  /// Returns the authority for another tenant. One of B2C keeps its policy.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for a tenant that cannot stand in an address, and for
  ///   an authority without tenants.
  public func replacingTenant(with tenant: String) throws(IdentityError) -> Authority {
    guard let current = self.tenant,
      tenant == current || !["", ".", ".."].contains(tenant) && FormEncoding.encode(tenant) == tenant
    else { throw .invalidAuthority("\(address) cannot have the tenant \(tenant).") }
    if tenant == current { return self }
    var path = [tenant]
    if kind == .b2c {
      path = address.split(separator: "/").dropFirst(2).map(String.init)
      path[path.first?.lowercased() == "tfp" ? 1 : 0] = tenant
    }
    return Authority(kind: kind, host: host, path: path, tenant: tenant)
  }

  /// Takes an address of the given kind, else of the kind that its form says.
  private init(_ url: URL, kind given: Kind?, inAnyForm: Bool = false) throws(IdentityError) {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      parts.scheme?.lowercased() == "https"
    else { throw .invalidAuthority("authority must use HTTPS.") }
    guard let host = url.authorityHost else {
      throw .invalidAuthority("authority must have a host and no user name.")
    }
    var path = parts.percentEncodedPath.split(separator: "/").map(String.init)
    guard !path.contains(".."), !path.contains(".") else {
      throw .invalidAuthority("authority must not have dots for directories in its path.")
    }
    var tenant = path.first
    let isB2C = tenant?.lowercased() == "tfp" || host.hasSuffix(".b2clogin.com")
    let isADFS = tenant?.lowercased() == "adfs"
    let isCIAM = ("." + host).hasSuffix(".ciamlogin.com")
    let kind = given ?? (isB2C ? .b2c : isADFS ? .adfs : isCIAM ? .ciam : .aad)
    switch kind {
    case .aad:
      guard tenant != nil else { throw .invalidAuthority("authority must have AAD tenant.") }
      guard !isADFS else {
        throw .invalidAuthority("Trying to initialize AAD authority with ADFS authority url.")
      }
      guard !isB2C else {
        throw .invalidAuthority("Trying to initialize AAD authority with B2C authority url.")
      }
      path = Array(path.prefix(1))
    case .b2c where inAnyForm && tenant != nil && !isB2C && path.count != 2: break
    case .b2c:
      let count = tenant?.lowercased() == "tfp" ? 3 : 2
      guard path.count >= count else {
        throw .invalidAuthority(
          "B2C authority should have at least 3 segments in the path "
            + "(i.e. https://<host>/tfp/<tenant>/<policy>/...)")
      }
      (path, tenant) = (Array(path.prefix(count)), path[count - 2])
    case .adfs:
      guard isADFS else { throw .invalidAuthority("It is not ADFS authority.") }
      (path, tenant) = (["adfs"], nil)
    case .ciam:
      if tenant == nil, host.hasSuffix(".ciamlogin.com") {
        tenant = host.split(separator: ".").first.map { "\($0).onmicrosoft.com" }
      }
      guard let tenant else {
        throw .invalidAuthority(
          "Non-custom CIAM authority should have at least 3 segments in the path "
            + "(i.e. https://<tenant>.ciamlogin.com...)")
      }
      path = [tenant]
    case .oidc: tenant = nil
    }
    self.init(kind: kind, host: host, path: path, tenant: tenant)
  }

  private init(kind: Kind, host: String, path: [String], tenant: String?) {
    self.kind = kind
    self.host = host
    self.tenant = tenant
    address = path.reduce("https://" + host) { $0 + "/" + $1 }
  }
}

extension Authority: CustomStringConvertible {
  public var description: String { address }
}

extension Authority {
  /// What the cache has to know of the kind.
  var cacheKind: AuthorityKind {
    switch kind {
    case .aad: .aad
    case .b2c: .b2c
    case .ciam: .ciam
    // The subject identifies the accounts of both, and neither has tenants.
    case .adfs, .oidc: .adfs
    }
  }

  /// Whether Microsoft's services answer, which understand parameters that the standards do not know.
  var isMicrosofts: Bool { kind == .aad || kind == .b2c || kind == .ciam }

  /// Whether the authority is that of one tenant of Entra ID, named by its id and not by a domain.
  var namesTenantID: Bool { kind == .aad && UUID(uuidString: tenant ?? "") != nil }

  /// Whether the authority is that of one tenant, named by its id, and the given one is another.
  func excludes(tenant other: String?) -> Bool {
    namesTenantID && other.map { $0.normalized != tenant?.normalized } ?? false
  }

  /// Whether the response names another tenant than the address does.
  package var namesManyTenants: Bool {
    kind == .aad && Tenant.namesMany(tenant)
  }

  /// Whether the address names the tenant by a domain. Its id is in the issuer.
  var namesDomain: Bool { kind == .aad && !namesManyTenants && !namesTenantID }

  /// The authority with the tenant's id that its issuer has, in place of a domain.
  func resolved(by issuer: String) -> Authority {
    guard namesDomain,
      let id = URL(string: issuer)?.pathComponents.first(where: { UUID(uuidString: $0) != nil })
    else { return self }
    return (try? replacingTenant(with: id)) ?? self
  }
}

extension IdentityError {
  fileprivate static func invalidAuthority(_ reason: String) -> IdentityError {
    IdentityError(.invalidParameter, reason)
  }
}
