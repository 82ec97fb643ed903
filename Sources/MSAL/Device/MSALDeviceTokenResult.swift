public import Foundation

/// A token of the device itself.
public final class MSALDeviceTokenResult: NSObject, Sendable {
  public let accessToken: String
  public let deviceInformation: String?
  public let expiresOn: Date?
  public let scopes: [String]
  public let authority: MSALAuthority?

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
