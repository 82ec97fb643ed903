public import Foundation

extension MSALPublicClientApplication {
  /// As MSAL 0.1 to 0.3 had it.
  @available(*, deprecated, renamed: "handleMSALResponse(_:sourceApplication:)")
  @discardableResult
  public class func handleMSALResponse(_ response: URL) -> Bool {
    handleMSALResponse(response, sourceApplication: nil)
  }
}
