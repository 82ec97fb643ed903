public import Foundation
import IdentityClient
import TokenCache

/// An authority that signs users in.
///
/// Programs mostly make one of its subclasses. An authority never changes.
open class MSALAuthority: MSALObject, NSCopying, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
  let authority: Authority

  /// The normalized URL, without parts that do not identify the authority.
  public var url: URL { authority.url }

  /// Makes an authority from a URL, whose form determines its kind.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL that is not an authority's.
  public init(url: URL) throws { authority = try MSALAuthority.authority(url) }

  init(_ authority: Authority) { self.authority = authority }

  /// The object of the right class for an authority.
  static func make(_ authority: Authority) -> MSALAuthority {
    switch authority.kind {
    case .aad: MSALAADAuthority(authority)
    case .b2c: MSALB2CAuthority(authority)
    case .adfs: MSALADFSAuthority(authority)
    case .ciam: MSALCIAMAuthority(authority)
    case .oidc: MSALAuthority(authority)
    }
  }

  static func authority(
    _ url: URL, _ kind: Authority.Kind? = nil, tenant: String? = nil
  ) throws -> Authority {
    do throws(IdentityError) {
      let authority =
        switch kind {
        case nil: try Authority(url: url)
        case .b2c: try Authority(anyB2C: url)
        case let kind?: try Authority(url: url, kind: kind)
        }
      guard let tenant = tenant.nonBlank else { return authority }
      return try authority.replacingTenant(with: tenant)
    } catch {
      throw NSError(error)
    }
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the object is the same authority.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALAuthority)?.authority == authority
  }

  /// The hash of the URL.
  public override var hash: Int { authority.hashValue }
}

/// Microsoft Entra ID, and Microsoft's service for personal accounts.
open class MSALAADAuthority: MSALAuthority, @unchecked Sendable {
  override init(_ authority: Authority) { super.init(authority) }

  /// Makes an authority from a URL such as `https://login.microsoftonline.com/common`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL without https, host or tenant.
  public override convenience init(url: URL) throws { try self.init(url: url, rawTenant: nil) }

  /// Makes an authority from a URL, with another tenant.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL without https, host or tenant, and for a tenant
  ///   that cannot be part of a URL.
  public init(url: URL, rawTenant: String?) throws {
    super.init(try MSALAuthority.authority(url, .aad, tenant: rawTenant))
  }

  /// Makes an authority from a cloud and an audience.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` when a tenant is given for another audience than one
  ///   organization, or missing for that.
  public convenience init(
    cloudInstance: MSALAzureCloudInstance, audienceType: MSALAudienceType, rawTenant: String?
  ) throws {
    try self.init(environment: cloudInstance.environment, audienceType: audienceType, rawTenant: rawTenant)
  }

  /// Makes an authority from the host of a cloud and an audience.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` when there is no host of that name, and when a tenant is given
  ///   for another audience than one organization, or missing for that.
  public convenience init(environment: String, audienceType: MSALAudienceType, rawTenant: String?) throws {
    let tenant = try Self.tenant(of: audienceType, rawTenant: rawTenant)
    guard !environment.isBlank, let url = URL(string: "https://\(environment)/\(tenant)") else {
      throw NSError(.internalErrorInvalidParameter, "Invalid environment provided")
    }
    try self.init(url: url, rawTenant: nil)
  }

  /// The tenant segment of the URL. The texts of the errors are Apple's.
  private static func tenant(of audience: MSALAudienceType, rawTenant: String?) throws -> String {
    let tenant = rawTenant.nonBlank
    if let tenant, audience != .azureADMyOrgOnlyAudience {
      throw NSError(
        .internalErrorInvalidParameter,
        "Invalid MSALAudienceType provided. "
          + "You can only provide rawTenant when using MSALAzureADMyOrgOnlyAudience.",
        advice: "Leave out the tenant \(tenant), or use that audience.")
    }
    switch audience {
    case .azureADAndPersonalMicrosoftAccountAudience: return "common"
    case .azureADMultipleOrgsAudience: return "organizations"
    case .personalMicrosoftAccountAudience: return "consumers"
    case .azureADMyOrgOnlyAudience:
      guard let tenant else {
        throw NSError(
          .internalErrorInvalidParameter,
          "Invalid MSALAudienceType provided. "
            + "You must provide rawTenant when using MSALAzureADMyOrgOnlyAudience.")
      }
      return tenant
    }
  }
}

extension String {
  var isBlank: Bool { allSatisfy(\.isWhitespace) }
}

/// The accounts that may sign in.
public enum MSALAudienceType: Int, Sendable {
  /// Work and school accounts of every organization, and personal ones: `common`.
  case azureADAndPersonalMicrosoftAccountAudience = 0
  /// Work and school accounts of every organization: `organizations`.
  case azureADMultipleOrgsAudience = 1
  /// Accounts of one organization, which has to be given.
  case azureADMyOrgOnlyAudience = 2
  /// Personal accounts: `consumers`.
  case personalMicrosoftAccountAudience = 3
}

/// Microsoft's clouds.
public enum MSALAzureCloudInstance: Int, Sendable {
  case publicCloudInstance = 0
  case chinaCloudInstance = 1
  case germanyCloudInstance = 2
  case usGovernmentCloudInstance = 3
  case franceCloudInstance = 4
  case delosCloudInstance = 5
  case govSGCloudInstance = 6

  var environment: String { KnownCloud.all[rawValue].host }
}

/// Active Directory Federation Services.
open class MSALADFSAuthority: MSALAuthority, @unchecked Sendable {
  override init(_ authority: Authority) { super.init(authority) }

  /// Makes an authority from a URL such as `https://fs.contoso.com/adfs`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL without https, host or the path `adfs`.
  public override init(url: URL) throws { super.init(try MSALAuthority.authority(url, .adfs)) }
}

/// Azure AD B2C.
open class MSALB2CAuthority: MSALAuthority, @unchecked Sendable {
  override init(_ authority: Authority) { super.init(authority) }

  /// Makes an authority from a URL such as `https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn`, or in another
  /// form, such as that of a gateway.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL without https, host or path, and for one of `b2clogin.com` or with `tfp`
  ///   that names no policy.
  public override init(url: URL) throws { super.init(try MSALAuthority.authority(url, .b2c)) }
}

/// Microsoft Entra External ID.
open class MSALCIAMAuthority: MSALAuthority, @unchecked Sendable {
  override init(_ authority: Authority) { super.init(authority) }

  /// Makes an authority from a URL such as `https://contoso.ciamlogin.com`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL without https or host, and for one of another
  ///   domain than `ciamlogin.com` without a tenant.
  public override convenience init(url: URL) throws { try self.init(url: url, validateFormat: false) }

  /// Makes an authority from a URL. With a custom domain the URL has to name the tenant, and `validateFormat` has to be false.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a URL without https or host, or in another form.
  public init(url: URL, validateFormat: Bool) throws {
    if validateFormat, url.host?.lowercased().hasSuffix(KnownCloud.externalIDSuffix) != true {
      throw NSError(
        .internalErrorInvalidParameter, "\(url.host ?? "The URL") is not a host of ciamlogin.com.",
        advice: "For a custom domain, turn off the check of the format.")
    }
    super.init(try MSALAuthority.authority(url, .ciam))
  }
}
