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

  /// Makes a code that no server gave, for a program's own tests.
  ///
  /// - Parameters:
  ///   - userCode: The code to type in.
  ///   - verificationURI: The page to open.
  ///   - message: A sentence that says both.
  ///   - expiresOn: When the code is good no more.
  public init(userCode: String, verificationURI: URL, message: String, expiresOn: Date) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.message = message
    self.expiresOn = expiresOn
  }

  convenience init(_ code: DeviceCode) {
    self.init(
      userCode: code.userCode, verificationURI: code.verificationURI, message: code.message,
      expiresOn: code.expiresOn)
  }
}
