public import Foundation

/// A token of the device itself.
public final class MSALDeviceTokenResult: NSObject, Sendable {
  /// The access token.
  public let accessToken: String
  /// What the server says of the device.
  public let deviceInformation: String?
  /// When the access token ends.
  public let expiresOn: Date?
  /// What the token is for.
  public let scopes: [String]
  /// Who issued the token.
  public let authority: MSALAuthority?

  /// Makes a result that no server gave, for a program's own tests.
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
