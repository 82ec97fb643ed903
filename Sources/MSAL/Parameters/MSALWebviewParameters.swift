public import Foundation

/// How the sign-in is shown.
///
/// On Linux it is shown in the system's browser: nothing here changes that. The properties exist so that
/// code written for iOS and macOS compiles.
open class MSALWebviewParameters: NSObject, NSCopying {
  /// How a view is presented on iOS.
  public enum PresentationStyle: Int, Sendable {
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

  /// What was given to the initializer, as long as it lives. Without effect.
  ///
  /// Weak, since programs keep these parameters in the very view controller that they give.
  open weak var parentViewController: AnyObject?
  /// Without effect.
  open var presentationStyle = PresentationStyle.fullScreen
  /// Without effect: the system's browser opens in the person's own session.
  open var prefersEphemeralWebBrowserSession = false
  /// Without effect.
  open var webviewType = MSALWebviewType.default
  /// Without effect.
  open var customWebview: Any?

  /// - Parameter parentViewController: Any object, such as the program's window; it is not used.
  public init(authPresentationViewController parentViewController: AnyObject? = nil) {
    self.parentViewController = parentViewController
  }

  convenience init(copying other: MSALWebviewParameters) {
    self.init(authPresentationViewController: other.parentViewController)
    presentationStyle = other.presentationStyle
    prefersEphemeralWebBrowserSession = other.prefersEphemeralWebBrowserSession
    webviewType = other.webviewType
    customWebview = other.customWebview
  }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALWebviewParameters(copying: self) }
}
