public import Foundation

/// How the sign-in is shown: on Linux in the system's browser.
///
/// The other properties, in `Inert`, exist so that code written for iOS and macOS compiles.
open class MSALWebviewParameters: NSObject, NSCopying {
  /// Whether the sign-in opens in a private window, which has none of the browser's sessions and is forgotten afterwards;
  /// false unless set.
  ///
  /// Firefox, Chromium, Chrome, Edge, Brave, Vivaldi, Opera, GNOME Web and their kin are asked for one by their own
  /// switches, if they are the browser of the desktop or the first of `$BROWSER`. Another browser opens the page in the
  /// person's own session, and the log says so with the level ``MSALLogLevel/warning``. Signing out of the browser
  /// always concerns the person's own session. ``MSALPublicClientApplication/init(configuration:transport:authenticator:)``
  /// is for a program with a way of its own.
  open var prefersEphemeralWebBrowserSession = false

  /// See `Inert`.
  var inert = Inert()

  /// - Parameter parentViewController: Any object, such as the program's window; it is not used.
  public init(authPresentationViewController parentViewController: AnyObject? = nil) {
    inert.parentViewController = parentViewController
  }

  convenience init(copying other: MSALWebviewParameters) {
    self.init()
    inert = other.inert
    prefersEphemeralWebBrowserSession = other.prefersEphemeralWebBrowserSession
  }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALWebviewParameters(copying: self) }
}

/// How a person is offered to sign in.
public enum MSALPreferredAuthMethod: UInt, Sendable {
  /// The server chooses the way.
  case none = 0
  /// The person has a QR code and a PIN, as people have who share a device at work.
  case QRPIN = 1
}
