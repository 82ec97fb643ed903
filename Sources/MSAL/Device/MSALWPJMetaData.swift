public import Foundation

/// What is known of the device's registration with an organization. Never handed out on Linux.
public final class MSALWPJMetaData: NSObject, Sendable {
  /// The registration, by the keys that begin with `MSAL_PRIMARY_REGISTRATION`.
  public var extraDeviceInformation: [AnyHashable: Any] { [:] }

  /// Makes one without a registration, for a program's own tests.
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
