/// Has no effect: stands for a view controller of iOS or macOS, and is any object.
public typealias MSALViewController = AnyObject

extension MSALWebviewParameters {
  /// Has no effect: no view is presented.
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

  /// What the properties below keep.
  struct Inert {
    weak var parentViewController: AnyObject?
    var presentationStyle = PresentationStyle.fullScreen
    var webviewType = MSALWebviewType.default
    var customWebview: Any?
  }

  /// Has no effect. What was given to the initializer, as long as it lives.
  ///
  /// Weak, since programs keep these parameters in the very view controller that they give.
  public var parentViewController: AnyObject? {
    get { inert.parentViewController }
    set { inert.parentViewController = newValue }
  }

  /// Has no effect. It keeps what it is set to.
  public var presentationStyle: PresentationStyle {
    get { inert.presentationStyle }
    set { inert.presentationStyle = newValue }
  }

  /// Has no effect: the sign-in is always shown in the system's browser. It keeps what it is set to.
  public var webviewType: MSALWebviewType {
    get { inert.webviewType }
    set { inert.webviewType = newValue }
  }

  /// Has no effect: the sign-in is always shown in the system's browser. It keeps what it is set to.
  public var customWebview: Any? {
    get { inert.customWebview }
    set { inert.customWebview = newValue }
  }
}
