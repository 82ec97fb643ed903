public import FoundationEssentials
import HTTPSupport
import TokenCache

/// The address of an authorization server, reduced to the part that identifies the authority.
///
/// For example:
///
/// ```swift
/// let contoso = try Authority(
///   "https://login.microsoftonline.com/contoso.com")
/// let guests = try contoso.replacingTenant(with: "fabrikam.com")
/// ```
public struct Authority: Sendable, Hashable {
  /// The kinds of authorization server, by the protocol that they expect.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Microsoft Entra ID and personal Microsoft accounts: `https://<host>/<tenant>`.
    case aad
    /// Azure AD B2C: `https://<host>/tfp/<tenant>/<policy>`, also without `tfp`.
    case b2c
    /// Active Directory Federation Services: `https://<host>/adfs`.
    case adfs
    /// Microsoft Entra External ID: `https://<tenant>.ciamlogin.com`, or a custom domain.
    case ciam
    /// Any OpenID Connect provider; the address is its issuer.
    case oidc
  }

  public let kind: Kind
  /// The normalized address, without query, fragment and further path components.
  public var url: URL {
    // The address was parsed as a URL, so that the fallback is never used.
    URL(string: address) ?? URL(filePath: "/")
  }
  /// The normalized address as text.
  let address: String
  /// The host in lower case, with the port unless that is 443.
  public let host: String
  /// The tenant in the path, as written; `nil` for AD FS and OpenID Connect providers.
  public let tenant: String?

  /// The `environment` of the authority's records in the cache, before aliases are known: the host. For OpenID Connect
  /// providers and for External ID at a custom domain it includes the path, since a host may have several issuers. A
  /// path is case-sensitive and the cache's text is not, so capital letters are encoded.
  public var environment: String {
    guard kind == .oidc || kind == .ciam && !host.hasSuffix(KnownCloud.externalIDSuffix) else { return host }
    let path = address.dropFirst("https://".count + host.count)
    if kind == .ciam { return host + path.lowercased() }
    return path.utf8.reduce(into: host) { text, byte in
      let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
      text += isCapital ? "%" + String(byte, radix: 16) : String(UnicodeScalar(byte))
    }
  }

  /// Entra ID for work, school and personal accounts: `https://login.microsoftonline.com/common`.
  public static let `default` = Authority(
    kind: .aad, host: KnownCloud.worldwide.host, path: ["common"], tenant: "common")

  /// Parses an address and infers the kind from its form. For an OpenID Connect provider, use ``init(url:kind:)``.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an address that is not an authority's.
  public init(url: URL) throws(IdentityError) {
    try self.init(url, kind: nil)
  }

  /// Parses a text like ``init(url:)``.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for a text that is not an authority's address.
  public init(_ address: String) throws(IdentityError) {
    guard let url = URL(string: address) else { throw .invalidAuthority("\"\(address)\" is not a URL.") }
    try self.init(url: url)
  }

  /// Parses an address of the given kind.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an address that is not of that kind.
  public init(url: URL, kind: Kind) throws(IdentityError) {
    try self.init(url, kind: kind)
  }

  /// Parses a B2C address of any form, such as behind a gateway or without a policy. The usual forms are reduced as by
  /// ``init(url:kind:)``.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for an address without https, host or path.
  package init(anyB2C url: URL) throws(IdentityError) {
    try self.init(url, kind: .b2c, inAnyForm: true)
  }

  /// Returns the authority for another tenant. A B2C authority keeps its policy.
  ///
  /// - Throws: ``IdentityError/Code/invalidParameter`` for a tenant that is not valid in an address, and for an
  ///   authority without tenants.
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

  /// Parses an address of the given kind, or of the kind that its form implies.
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
    let isB2C = tenant?.lowercased() == "tfp" || host.hasSuffix(KnownCloud.b2cSuffix)
    let isADFS = tenant?.lowercased() == "adfs"
    let isCIAM = ("." + host).hasSuffix(KnownCloud.externalIDSuffix)
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
    case .b2c where inAnyForm && tenant != nil && !isB2C: break
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
      if tenant == nil, host.hasSuffix(KnownCloud.externalIDSuffix) {
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
  /// The kind as the cache distinguishes it.
  var cacheKind: AuthorityKind {
    switch kind {
    case .aad: .aad
    case .b2c: .b2c
    case .ciam: .ciam
    // The subject identifies the accounts of both, and neither has tenants.
    case .adfs, .oidc: .adfs
    }
  }

  /// Whether the servers are Microsoft's, which accept nonstandard parameters.
  var isMicrosofts: Bool { kind == .aad || kind == .b2c || kind == .ciam }

  /// Whether the authority is one Entra ID tenant, given by its ID and not by a domain.
  var namesTenantID: Bool { kind == .aad && UUID(uuidString: tenant ?? "") != nil }

  /// Whether the authority is one tenant, given by its ID, and differs from `other`.
  func excludes(tenant other: String?) -> Bool {
    namesTenantID && other.map { $0.normalized != tenant?.normalized } ?? false
  }

  /// Whether the address names no single tenant, so that only the response does.
  package var namesManyTenants: Bool {
    kind == .aad && Tenant.namesMany(tenant)
  }

  /// Whether the address gives the tenant by a domain. The issuer has its ID.
  var namesDomain: Bool { kind == .aad && !namesManyTenants && !namesTenantID }

  /// Returns the authority with its domain replaced by the tenant ID of the issuer.
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
