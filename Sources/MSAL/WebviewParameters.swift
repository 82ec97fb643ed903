public import Foundation

/// How the sign-in is shown: on Linux in the system's browser.
///
/// The properties without effect exist so that code written for iOS and macOS compiles.
open class MSALWebviewParameters: NSObject, NSCopying {
  /// Whether the sign-in opens in a private window, which has none of the browser's sessions and keeps none
  /// (default: false).
  ///
  /// Firefox, Chromium, Chrome, Edge, Brave, Vivaldi, Opera, GNOME Web and their derivatives are started with their own
  /// switches, if they are the browser of the desktop or the first of `$BROWSER`. Another browser opens the page in the
  /// user's session, which is logged as ``MSALLogLevel/warning``. Signing out of the browser
  /// always uses the user's session. ``MSALPublicClientApplication/init(configuration:transport:authenticator:)``
  /// is for programs with their own way.
  open var prefersEphemeralWebBrowserSession = false

  /// Has no effect. The initializer's argument while it lives.
  ///
  /// Weak, since programs keep these parameters in that view controller.
  public weak var parentViewController: AnyObject?

  /// Has no effect. It keeps what it is set to.
  public var presentationStyle = UIModalPresentationStyle.fullScreen

  /// Has no effect: the sign-in is always shown in the system's browser. It keeps what it is set to.
  public var webviewType = MSALWebviewType.default

  /// Has no effect: the sign-in is always shown in the system's browser. It keeps what it is set to.
  public var customWebview: Any?

  /// - Parameter parentViewController: Any object, such as the program's window; it is not used.
  public init(authPresentationViewController parentViewController: AnyObject? = nil) {
    self.parentViewController = parentViewController
  }

  convenience init(copying other: MSALWebviewParameters) {
    self.init(authPresentationViewController: other.parentViewController)
    presentationStyle = other.presentationStyle
    webviewType = other.webviewType
    customWebview = other.customWebview
    prefersEphemeralWebBrowserSession = other.prefersEphemeralWebBrowserSession
  }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALWebviewParameters(copying: self) }
}

/// Sign-in methods.
public enum MSALPreferredAuthMethod: UInt, Sendable {
  /// The server chooses the method.
  case none = 0
  /// A QR code and a PIN, as for shared devices at work.
  case QRPIN = 1
}
