public import Foundation
package import HTTPTransport
package import IdentityClient
import TokenCache

/// Signs people in to an application without a secret of its own, and keeps their tokens fresh.
///
/// Methods with a completion block return at once and call it later, on the queue that the parameters name, or
/// as ``MSALParameters/completionBlockQueue`` says. Async methods do the same for code that can wait; cancelling
/// their task ends the work with ``MSALError/userCanceled``. Errors are `NSError` objects, most of them in
/// ``MSALErrorDomain``; a network that is down shows in `NSURLErrorDomain`, and a keyring that is locked or away
/// in `NSOSStatusErrorDomain`.
///
/// For example:
///
/// ```swift
/// let application = try MSALPublicClientApplication(
///   configuration: MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555"))
/// let parameters = MSALInteractiveTokenParameters(
///   scopes: ["https://graph.microsoft.com/user.read"], webviewParameters: MSALWebviewParameters())
/// let result = try await application.acquireToken(with: parameters)
/// ```
open class MSALPublicClientApplication: NSObject, @unchecked Sendable {
  // Unchecked because the class is open to subclasses and because a configuration can be changed: this one never
  // is, and only copies are handed out.
  private let config: MSALPublicClientApplicationConfig
  let client: PublicClient

  /// What the application was made with. Later changes have no effect.
  open var configuration: MSALPublicClientApplicationConfig {
    MSALPublicClientApplicationConfig(copying: config)
  }

  /// - Throws: An error in ``MSALErrorDomain`` for a configuration that cannot work.
  public convenience init(configuration config: MSALPublicClientApplicationConfig) throws {
    try self.init(
      configuration: config, transport: try defaultTransport(), authenticator: defaultAuthenticator())
  }

  /// - Throws: An error in ``MSALErrorDomain`` when the client id is empty.
  public convenience init(clientId: String) throws {
    try self.init(configuration: MSALPublicClientApplicationConfig(clientId: clientId))
  }

  /// - Parameters:
  ///   - config: What the application is; it is copied.
  ///   - transport: Sends its requests.
  ///   - authenticator: Opens the browser.
  package init(
    configuration config: MSALPublicClientApplicationConfig, transport: any HTTPTransport,
    authenticator: (any WebAuthenticator)?
  ) throws {
    self.config = MSALPublicClientApplicationConfig(copying: config)
    client = PublicClient(
      configuration: try config.clientConfiguration(), cache: try config.cacheConfig.accessor(),
      transport: transport, authenticator: authenticator, logger: MSALGlobalConfig.loggerConfig.logger())
    super.init()
  }

  /// The places where other libraries keep accounts.
  var externalAccounts: ExternalAccounts {
    ExternalAccounts(providers: config.cacheConfig.externalAccountProviders)
  }

  /// The version of this library.
  open class var sdkVersion: String? { "0.1.0" }

  /// Always false: this library speaks to no broker.
  open var isCompatibleAADBrokerAvailable: Bool { false }

  /// Completes a sign-in whose redirect URI has a scheme of the application's own.
  ///
  /// The desktop starts the program, or activates it, with the address; hand it over here.
  ///
  /// - Parameters:
  ///   - response: The address.
  ///   - sourceApplication: Without effect on Linux.
  /// - Returns: Whether a sign-in waited for it.
  @discardableResult
  open class func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool {
    WebSessions.handle(response)
  }

  /// Cancels the sign-in that waits for the browser. It ends with ``MSALError/userCanceled``.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  open class func cancelCurrentWebAuthSession() -> Bool {
    WebSessions.cancelAll()
  }
}
