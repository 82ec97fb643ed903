/// What the server asks the person who signs in, as MSAL before 1.0 called it.
@available(*, deprecated, message: "Use MSALPromptType.")
public enum MSALUIBehavior: UInt, Sendable {
  case selectAccount = 0
  case forceLogin = 1
  case forceConsent = 2
  case promptIfNecessary = 3

  /// ``selectAccount``, as it was then.
  public static var `default`: MSALUIBehavior { .selectAccount }

  var promptType: MSALPromptType {
    switch self {
    case .selectAccount: .selectAccount
    case .forceLogin: .login
    case .forceConsent: .consent
    case .promptIfNecessary: .promptIfNecessary
    }
  }
}
