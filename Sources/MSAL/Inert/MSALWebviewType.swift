/// Has no effect: the sign-in is always shown in the system's browser.
public enum MSALWebviewType: Int, Sendable {
  case `default` = 0
  case authenticationSession = 1
  case safariViewController = 2
  case wkWebView = 3
}
