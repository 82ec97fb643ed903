/// A request in which the person signs in on another device (RFC 8628): for programs without a browser, over
/// SSH for instance. MSAL for iOS and macOS has nothing like it.
///
/// For example:
///
/// ```swift
/// let parameters = MSALDeviceCodeTokenParameters(scopes: ["user.read"]) { code in print(code.message) }
/// let result = try await application.acquireToken(with: parameters)
/// ```
open class MSALDeviceCodeTokenParameters: MSALTokenParameters {
  let show: @Sendable (MSALDeviceCode) -> Void

  /// Asks for a token by a code that the program shows.
  ///
  /// - Parameters:
  ///   - scopes: What the token is for.
  ///   - show: Shows the code to the person. It is called on a thread of the library's.
  @preconcurrency
  public init(scopes: [String], show: @escaping @Sendable (MSALDeviceCode) -> Void) {
    self.show = show
    super.init(scopes: scopes)
  }
}
