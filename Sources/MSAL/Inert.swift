public import Foundation
import Synchronization

extension MSALCacheConfig {
  /// Has no effect: returns the paths as they are.
  public func createTrustedApplicationList(fromPaths paths: [String]) throws -> [Any] { paths }
}

extension MSALGlobalConfig {
  private static let requestsBoundRefreshTokens = Mutex(false)

  /// Has no effect: refresh tokens are bound to no device. It keeps what it is set to.
  public static var shouldRequestBoundAppRefreshTokens: Bool {
    get { requestsBoundRefreshTokens.withLock { $0 } }
    set { requestsBoundRefreshTokens.withLock { $0 = newValue } }
  }

  /// Has no effect and is always `.default`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public static var defaultWebviewType: MSALWebviewType {
    get { .default }
    set {}
  }
}

extension MSALPublicClientApplication {
  /// Has no effect and is always `nil`: the log names no component.
  @available(*, deprecated, message: "The log names no component.")
  public var component: String? {
    get { nil }
    set {}
  }

  /// Has no effect and is always true. A host that only the program trusts belongs in
  /// ``MSALPublicClientApplicationConfig/knownAuthorities``.
  @available(*, deprecated, message: "Use MSALPublicClientApplicationConfig.knownAuthorities.")
  public var validateAuthority: Bool {
    get { true }
    set {}
  }

  /// Has no effect and is always `.default`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public var webviewType: MSALWebviewType {
    get { .default }
    set {}
  }

  /// Has no effect and is always `nil`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.customWebview.")
  public var customWebview: Any? {
    get { nil }
    set {}
  }
}

/// The form of MSAL 0.4 to 1, before these moved to the parameters of the web view.
extension MSALInteractiveTokenParameters {
  /// Has no effect. It keeps what it is set to while that lives.
  @available(*, deprecated, message: "Use MSALWebviewParameters.parentViewController.")
  public var parentViewController: AnyObject? {
    get { webviewParameters.parentViewController }
    set { webviewParameters.parentViewController = newValue }
  }

  /// Has no effect. It keeps what it is set to.
  @available(*, deprecated, message: "Use MSALWebviewParameters.presentationStyle.")
  public var presentationStyle: UIModalPresentationStyle {
    get { webviewParameters.presentationStyle }
    set { webviewParameters.presentationStyle = newValue }
  }

  /// Has no effect. It keeps what it is set to.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public var webviewType: MSALWebviewType {
    get { webviewParameters.webviewType }
    set { webviewParameters.webviewType = newValue }
  }

  /// Has no effect. It keeps what it is set to.
  @available(*, deprecated, message: "Use MSALWebviewParameters.customWebview.")
  public var customWebview: Any? {
    get { webviewParameters.customWebview }
    set { webviewParameters.customWebview = newValue }
  }
}

/// Has no effect: stands for a view controller of iOS or macOS, and is any object.
public typealias MSALViewController = AnyObject

/// Has no effect: stands for UIKit's type of this name, since no view is presented.
public enum UIModalPresentationStyle: Int, Sendable {
  case automatic = -2
  case none = -1
  case fullScreen = 0
  case pageSheet = 1
  case formSheet = 2
  case currentContext = 3
  case custom = 4
  case overFullScreen = 5
  case overCurrentContext = 6
  case popover = 7
}

/// Has no effect: the sign-in is always shown in the system's browser.
public enum MSALWebviewType: Int, Sendable {
  case `default` = 0
  case authenticationSession = 1
  case safariViewController = 2
  case wkWebView = 3
}

/// Has no effect: ``MSALTelemetryConfig/telemetryCallback`` is never called.
public typealias MSALTelemetryCallback = @Sendable ([String: String]) -> Void

/// Has no effect: no telemetry is sent. The properties keep what they are set to.
public final class MSALTelemetryConfig: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
  private let values = Mutex((piiEnabled: false, notifyOnFailureOnly: false))

  override init() {}

  /// Has no effect. It keeps what it is set to.
  public var piiEnabled: Bool {
    get { values.withLock { $0.piiEnabled } }
    set { values.withLock { $0.piiEnabled = newValue } }
  }

  /// Has no effect. It keeps what it is set to.
  public var notifyOnFailureOnly: Bool {
    get { values.withLock { $0.notifyOnFailureOnly } }
    set { values.withLock { $0.notifyOnFailureOnly = newValue } }
  }

  /// Has no effect and is always `nil`: a set value is not kept, since it would never be called.
  public var telemetryCallback: MSALTelemetryCallback? {
    get { nil }
    set {}
  }
}

/// Has no effect: no telemetry is sent.
@available(*, deprecated, message: "Use MSALGlobalConfig.telemetryConfig.")
public protocol MSALTelemetryDispatcher: NSObjectProtocol {
  /// Never called.
  func dispatchEvent(_ events: [[String: String]])
}

/// Has no effect: no telemetry is sent. The name of MSAL 0.1 to 0.3.
@available(*, deprecated, message: "Use MSALGlobalConfig.telemetryConfig.")
public typealias MSALDispatcher = MSALTelemetryDispatcher

/// Has no effect: no telemetry is sent.
@available(*, deprecated, message: "Use MSALGlobalConfig.telemetryConfig.")
public final class MSALTelemetry: MSALObject, @unchecked Sendable {
  private static let only = MSALTelemetry()

  private override init() {}

  /// The only object.
  public static func sharedInstance() -> MSALTelemetry { only }

  /// Has no effect. It keeps what it is set to.
  public var piiEnabled: Bool {
    get { MSALGlobalConfig.telemetryConfig.piiEnabled }
    set { MSALGlobalConfig.telemetryConfig.piiEnabled = newValue }
  }

  /// Has no effect. It keeps what it is set to.
  public var notifyOnFailureOnly: Bool {
    get { MSALGlobalConfig.telemetryConfig.notifyOnFailureOnly }
    set { MSALGlobalConfig.telemetryConfig.notifyOnFailureOnly = newValue }
  }

  /// Has no effect and is always `nil`.
  public var telemetryCallback: MSALTelemetryCallback? {
    get { nil }
    set {}
  }

  /// Has no effect: the dispatcher is never called.
  public func add(_ dispatcher: any MSALTelemetryDispatcher, setTelemetryOnFailure: Bool) {}
  /// Has no effect.
  public func remove(_ dispatcher: any MSALTelemetryDispatcher) {}
  /// Has no effect.
  public func removeAllDispatchers() {}
}

/// Has no effect: requests go through no broker for macOS.
public enum MSALXpcMode: UInt, Sendable {
  case disabled = 0
  case ssoExtCompanion = 1
  case ssoExtBackup = 2
  case primary = 3
}

/// A provider of another library's accounts. Its methods are called on the library's threads.
@preconcurrency
public protocol MSALExternalAccountProviding: NSObjectProtocol, Sendable {
  /// Tokens of an account were obtained.
  func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws
  /// An account is removed, completely if `wipeAccount` is true.
  func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws
  /// The matching accounts. Unless the parameters ask for them, the library leaves out those that were signed out of the
  /// application.
  func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol]
}

/// Has no effect: ``MSALLegacySharedAccountsProvider`` lists and changes nothing.
public enum MSALLegacySharedAccountMode: Int, Sendable {
  case readOnly = 0
  case readWrite = 1
}

/// Has no effect: Linux has none of the accounts that Microsoft's applications for iOS share with each other. The provider
/// lists nothing and changes nothing.
open class MSALLegacySharedAccountsProvider: MSALObject, MSALExternalAccountProviding, @unchecked Sendable {
  private let mode = Mutex(MSALLegacySharedAccountMode.readOnly)

  /// Has no effect. It keeps what it is set to.
  open var sharedAccountMode: MSALLegacySharedAccountMode {
    get { mode.withLock { $0 } }
    set { mode.withLock { $0 = newValue } }
  }

  /// Has no effect: the values are not used.
  public init(
    sharedKeychainAccessGroup sharedGroup: String, serviceIdentifier: String, applicationIdentifier: String
  ) {}

  /// Has no effect.
  open func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}

  /// Has no effect.
  open func remove(
    _ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?
  ) throws {}

  /// Has no effect: no accounts.
  open func accounts(
    with parameters: MSALAccountEnumerationParameters
  ) throws -> [any MSALAccountProtocol] { [] }
}

/// Has no effect: the cache of ADAL, the library before MSAL, has a format that only Apple's systems can read. The provider's cache
/// is always empty.
open class MSALSerializedADALCacheProvider: NSObject, NSCopying {
  private final class NoDelegate: NSObject, MSALSerializedADALCacheProviderDelegate {
    func willAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
    func didAccessCache(_ cache: MSALSerializedADALCacheProvider) {}
    func willWriteCache(_ cache: MSALSerializedADALCacheProvider) {}
    func didWriteCache(_ cache: MSALSerializedADALCacheProvider) {}
  }

  /// Has no effect: it is never called.
  public let delegate: any MSALSerializedADALCacheProviderDelegate

  /// Has no effect: the delegate is never called.
  public init(delegate: any MSALSerializedADALCacheProviderDelegate) throws { self.delegate = delegate }

  /// Has no effect: the keychain is not read.
  public init(
    keychainAttributes: [AnyHashable: Any], trustedApplications: [Any], accessLabel: String
  ) throws { delegate = NoDelegate() }

  /// Has no effect: no data.
  open func serializeData() throws -> Data { Data() }

  /// Reads no cache but an empty one.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for any other, which would be lost.
  open func deserialize(_ serializedData: Data) throws {
    guard serializedData.isEmpty else {
      throw NSError(
        .internalErrorUnexpected, "The cache of ADAL is not supported on Linux.",
        advice: "Sign in interactively.")
    }
  }

  /// Has no effect: the object itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Has no effect: a ``MSALSerializedADALCacheProvider`` is never called.
public protocol MSALSerializedADALCacheProviderDelegate: NSObjectProtocol {
  /// Never called.
  func willAccessCache(_ cache: MSALSerializedADALCacheProvider)
  /// Never called.
  func didAccessCache(_ cache: MSALSerializedADALCacheProvider)
  /// Never called.
  func willWriteCache(_ cache: MSALSerializedADALCacheProvider)
  /// Never called.
  func didWriteCache(_ cache: MSALSerializedADALCacheProvider)
}
