public import Foundation
import IdentityClient

/// What a person who signs in on another device has to know.
public final class MSALDeviceCode: NSObject, Sendable {
  /// The code to type in.
  public let userCode: String
  /// The page to open.
  public let verificationURI: URL
  /// A sentence that says both, in the server's words and without control characters.
  public let message: String
  /// When the code is good no more.
  public let expiresOn: Date

  init(_ code: DeviceCode) {
    userCode = code.userCode
    verificationURI = code.verificationURI
    message = code.message
    expiresOn = code.expiresOn
  }
}
