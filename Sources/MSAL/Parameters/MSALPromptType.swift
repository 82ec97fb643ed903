import IdentityClient

/// What the server asks the person who signs in.
public enum MSALPromptType: UInt, Sendable {
  /// Which account to use: `select_account`.
  case selectAccount = 0
  /// To sign in again, whatever sessions the browser has: `login`.
  case login = 1
  /// To consent to the scopes: `consent`.
  case consent = 2
  /// To create an account: `create`.
  case create = 3
  /// Only what it cannot do without: the parameter is left out.
  case promptIfNecessary = 4

  /// ``promptIfNecessary``.
  public static var `default`: MSALPromptType { .promptIfNecessary }

  var prompt: Prompt {
    switch self {
    case .selectAccount: .selectAccount
    case .login: .login
    case .consent: .consent
    case .create: .create
    case .promptIfNecessary: .promptIfNecessary
    }
  }
}
