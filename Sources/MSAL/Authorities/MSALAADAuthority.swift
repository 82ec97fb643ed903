public import Foundation
import IdentityClient

/// Microsoft Entra ID, and Microsoft's service for personal accounts.
public final class MSALAADAuthority: MSALAuthority, @unchecked Sendable {
  // `@unchecked Sendable` has to be restated; the superclass says why it holds. Nothing is added here.

  /// Takes an address such as `https://login.microsoftonline.com/common`.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address without https, host or tenant.
  public convenience init(url: URL) throws {
    try self.init(url: url, rawTenant: nil)
  }

  /// Takes an address, and a tenant in place of the one that it names.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an address without https, host or tenant, and for a tenant
  ///   that cannot stand in an address.
  public convenience init(url: URL, rawTenant: String?) throws {
    self.init(
      try Self.authority { () throws(IdentityError) in
        let authority = try Authority(url: url, kind: .aad)
        guard let rawTenant, !rawTenant.isBlank else { return authority }
        return try authority.replacingTenant(with: rawTenant)
      })
  }

  /// Names a cloud and whose accounts may sign in.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` when a tenant is given for another audience than one
  ///   organization, or missing for that.
  public convenience init(
    cloudInstance: MSALAzureCloudInstance, audienceType: MSALAudienceType, rawTenant: String?
  ) throws {
    try self.init(environment: cloudInstance.environment, audienceType: audienceType, rawTenant: rawTenant)
  }

  /// Names the host of a cloud and whose accounts may sign in.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` when there is no host of that name, and when a tenant is given
  ///   for another audience than one organization, or missing for that.
  public convenience init(
    environment: String, audienceType: MSALAudienceType, rawTenant: String?
  ) throws {
    let tenant = try Self.tenant(of: audienceType, rawTenant: rawTenant)
    guard !environment.isBlank, let url = URL(string: "https://\(environment)/\(tenant)") else {
      throw NSError(.internalErrorInvalidParameter, "Invalid environment provided")
    }
    try self.init(url: url, rawTenant: nil)
  }

  /// The tenant segment of the address. The words of the errors are those that programs know.
  private static func tenant(of audience: MSALAudienceType, rawTenant: String?) throws -> String {
    let tenant = rawTenant.flatMap { $0.isBlank ? nil : $0 }
    if let tenant, audience != .azureADMyOrgOnlyAudience {
      throw NSError(
        .internalErrorInvalidParameter,
        "Invalid MSALAudienceType provided. "
          + "You can only provide rawTenant when using MSALAzureADMyOrgOnlyAudience.",
        advice: "Leave the tenant \(tenant) out or choose that audience.")
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
