public import Foundation

/// Information on the device: an ordinary one on Linux, with the claims of the identity broker's tokens.
public final class MSALDeviceInformation: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
  /// Always `.default`: no device is shared.
  public var deviceMode: MSALDeviceMode { .default }
  /// Always `.none`.
  public var configuredPreferredAuthMethod: MSALPreferredAuthMethod { .none }
  /// Always false.
  public var hasAADSSOExtension: Bool { false }
  /// Always `.notEnabled`.
  public var platformSSOStatus: MSALPlatformSSOStatus { .notEnabled }
  /// The device's id and tenant, if a token of the identity broker has them, under
  /// ``MSAL_PRIMARY_REGISTRATION_DEVICE_ID`` and ``MSAL_PRIMARY_REGISTRATION_TENANT_ID``. The rest is not available on Linux.
  public var extraDeviceInformation: [AnyHashable: Any] { information }

  private let information: [String: String]

  /// Makes an object as the library returns it, for a program's own tests.
  public override init() { information = [:] }

  init(deviceID: String?, tenantID: String?) {
    var information: [String: String] = [:]
    if let deviceID {
      information[MSAL_PRIMARY_REGISTRATION_DEVICE_ID] = deviceID
      information[MSAL_PRIMARY_REGISTRATION_TENANT_ID] = tenantID
    }
    self.information = information
  }
}

/// Whether a device is shared by several users.
public enum MSALDeviceMode: UInt, Sendable {
  case `default` = 0
  /// One user after the other works with it. Never reported on Linux.
  case shared = 1
}

/// Whether the single sign-on of macOS is set up.
public enum MSALPlatformSSOStatus: UInt, Sendable {
  case notEnabled = 0
  case enabledNotRegistered = 1
  case enabledAndRegistered = 2
  case registrationNeedsRepair = 3
}

/// The device's registration with an organization. Never returned on Linux.
public final class MSALWPJMetaData: MSALObject, @unchecked Sendable {
  /// The registration, by the keys that begin with `MSAL_PRIMARY_REGISTRATION`.
  public var extraDeviceInformation: [AnyHashable: Any] { [:] }

  /// Makes an object without a registration, for a program's own tests.
  public override init() {}
}

/// The user name with which the device was registered.
public let MSAL_PRIMARY_REGISTRATION_UPN = "primary_registration_metadata_upn"
/// The device's id.
public let MSAL_PRIMARY_REGISTRATION_DEVICE_ID = "primary_registration_metadata_device_id"
/// The organization's tenant.
public let MSAL_PRIMARY_REGISTRATION_TENANT_ID = "primary_registration_metadata_tenant_id"
/// The host of the organization's cloud.
public let MSAL_PRIMARY_REGISTRATION_CLOUD = "primary_registration_metadata_cloud_host"
/// The thumbprint of the device's certificate.
public let MSAL_PRIMARY_REGISTRATION_CERTIFICATE_THUMBPRINT =
  "primary_registration_metadata_certificate_thumbprint"

/// A request for a token of the device itself.
open class MSALDeviceTokenParameters: MSALTokenParameters {
  /// The tenant with which the device is registered.
  public let tenantId: String?
  /// The scopes of the token.
  public let resource: String

  /// Makes a request for a token of the device, which is not available on Linux.
  public init(resource: String, scopes: [String]?, forTenantId tenantId: String) {
    self.resource = resource
    self.tenantId = tenantId
    super.init(scopes: scopes ?? [])
  }
}

/// A token of the device itself.
public final class MSALDeviceTokenResult: MSALObject, @unchecked Sendable {
  /// The access token.
  public let accessToken: String
  /// The server's information on the device.
  public let deviceInformation: String?
  /// When the access token expires.
  public let expiresOn: Date?
  /// The scopes of the token.
  public let scopes: [String]
  /// The authority that issued the token.
  public let authority: MSALAuthority?

  /// Makes a result that no server issued, for a program's own tests.
  public init(
    accessToken: String, deviceInformation: String?, expiresOn: Date?, scopes: [String],
    authority: MSALAuthority?
  ) {
    self.accessToken = accessToken
    self.deviceInformation = deviceInformation
    self.expiresOn = expiresOn
    self.scopes = scopes
    self.authority = authority
  }
}
