import Configuration
import HTTPSupport
public import IdentityClient
import Localization
import SecretService
public import TokenCache

/// Why something cannot be shown or done, in words for people, and what of the window helps.
public struct Trouble: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the person can do about it with one button.
  public enum Help: Sendable, Hashable {
    /// Unlock the keyring.
    case unlock
    /// See what `llavero doctor` says.
    case doctor
    /// Remove, or accept, what is damaged.
    case removeDamaged
    /// Sign in.
    case signIn(SignInRequest)
  }

  /// Names it in a few words.
  public let title: String
  /// What happened, in a sentence without secrets.
  public let message: String
  /// What to do about it, in a sentence.
  public let advice: String?
  public let help: Help?
  /// Whether it says that the store cannot be used, which is no longer true when it was read.
  public let isOfStore: Bool

  public init(
    _ title: String, _ message: String, advice: String? = nil, help: Help? = nil, isOfStore: Bool = false
  ) {
    self.title = title
    // They may have words of servers and files in them.
    self.message = printable(translated(message), isName: false)
    self.advice = advice.map { printable(translated($0), isName: false) }
    self.help = help
    self.isOfStore = isOfStore
  }

  /// Whether the person has ended it, who knows that.
  public var isCancellation: Bool { title == Self.cancelled }

  /// What happened and what to do about it.
  public var description: String {
    // A server's words may lack a full stop.
    [message, advice].compactMap(\.self).map { $0.hasSuffix(".") ? $0 : $0 + "." }.joined(separator: " ")
  }
}

extension Trouble {
  private static let cancelled = localized("Cancelled")
  private static let noSessionBus = localized("No Session Bus")
  private static let noKeyring = localized("No Keyring")
  private static let anotherKey = localized("Another Key Is Needed")
  static let passwordNeeded = localized("Its password is needed to see what is in it.")
  static let reopening = localized("If the key was changed, close this window and open it again.")
  static let withoutKeyring = localized(
    "On a machine without a keyring, “llavero setup” makes a store of encrypted files.")

  /// What a failure of the cache means to the person at the window.
  public init(_ error: CacheError) {
    let isOfKeyring = error.underlyingError is SecretServiceError
    let (title, help): (String, Help?) =
      switch (error.code, error.underlyingError) {
      case (_, SecretServiceError.noSessionBus as SecretServiceError): (Self.noSessionBus, .doctor)
      case (_, SecretServiceError.noSecretService as SecretServiceError): (Self.noKeyring, .doctor)
      case (_, SecretServiceError.noSuchCollection as SecretServiceError),
        (_, SecretServiceError.noWallet as SecretServiceError),
        (_, SecretServiceError.noDatabase as SecretServiceError):
        (Self.noKeyring, .doctor)
      case (_, SecretServiceError.itemsLocked as SecretServiceError):
        (localized("The Keyring Asks First"), .unlock)
      case (_, SecretServiceError.promptRequired as SecretServiceError):
        (localized("The Keyring Asks First"), nil)
      case (.cancelled, _), (.promptDismissed, is PassphraseDialog.Needed): (Self.cancelled, nil)
      case (_, is PassphraseDialog.Needed): (localized("The Store Is Locked"), .unlock)
      case (.locked, is SecretServiceError): (localized("The Keyring Is Locked"), .unlock)
      case (.promptDismissed, _): (localized("Not Confirmed"), nil)
      case (.locked, _): (localized("The Store Is Locked"), .doctor)
      case (.unavailable, _):
        (
          isOfKeyring ? localized("The Keyring Is Out of Reach") : localized("The Store Is Out of Reach"),
          .doctor
        )
      case (.timedOut, _):
        (
          isOfKeyring ? localized("The Keyring Does Not Answer") : localized("The Store Does Not Answer"),
          .doctor
        )
      case (.wrongKey, _): (Self.anotherKey, .doctor)
      case (.newerVersion, _): (localized("Written by a Later Version"), nil)
      case (.damaged, _), (.rolledBack, _):
        (localized("Something Is Damaged"), error.remedy == .none ? .doctor : .removeDamaged)
      case (.signedOut, _): (localized("Signed Out"), nil)
      case (.invalidGroup, _), (.invalidResponse, _), (.tooLarge, _), (.refused, _):
        (localized("The Request Failed"), .doctor)
      }
    // The title says that it is locked, and the button what to do.
    let isLocked = error.underlyingError as? SecretServiceError == .collectionLocked
    let advice =
      switch title {
      case Self.noSessionBus, Self.noKeyring:
        [error.advice.map(translated), Self.withoutKeyring].compactMap(\.self).joined(separator: " ")
      // The settings are read when the window opens.
      case Self.anotherKey:
        [error.advice.map(translated), Self.reopening].compactMap(\.self).joined(separator: " ")
      default: help == .unlock ? nil : error.advice
      }
    self.init(
      title, isLocked ? Self.passwordNeeded : error.message, advice: advice, help: help,
      isOfStore: [.locked, .promptDismissed, .unavailable, .timedOut].contains(error.code))
  }

  /// What a part of a group that cannot be read means to the person at the window.
  public init(_ problem: StoreProblem) {
    let title =
      switch problem.kind {
      case .duplicate: localized("Stored Twice")
      case .edited: localized("Attributes Were Added")
      case .foreign: localized("Foreign Entry")
      case .damaged: localized("Something Is Damaged")
      case .newerVersion: localized("Written by a Later Version")
      case .wrongKey: Self.anotherKey
      case .rolledBack: localized("An Older Version")
      case .missing: localized("Something Is Missing")
      case .returned: localized("A Removed Entry Is Back")
      }
    self.init(
      title, problem.detail, advice: problem.advice, help: problem.remedy == .none ? nil : .removeDamaged)
  }

  /// Why the settings name no store that can be used.
  init(opening error: any Error) {
    switch error {
    case let error as ConfigurationError:
      self.init(localized("Invalid Setting"), error.message, advice: error.advice)
    case let error as CacheError: self.init(error)
    case HTTPTransportError.invalidConfiguration(let reason): self.init(localized("Invalid Setting"), reason)
    default: self.init(localized("The Store Cannot Be Opened"), "\(error)", help: .doctor)
    }
  }

  /// What a failure of the sign-in layer means to the person at the window, and the sign-in that helps.
  public init(_ error: IdentityError, signIn: SignInRequest? = nil) {
    if let cacheError = error.cacheError {
      self.init(cacheError)
      return
    }
    if error.code.needsSignIn {
      let isResolvable = error.canBeResolvedBySignIn
      self.init(
        isResolvable ? localized("A New Sign-In Is Needed") : localized("The Server Refused"),
        error.oauthErrorDescription ?? error.message,
        advice: isResolvable
          ? localized("Sign in again here, or in the program that the token is for.") : error.advice,
        help: signIn.map { .signIn($0) })
      return
    }
    switch error.code {
    case .timedOut, .deviceCodeExpired:
      self.init(localized("Not Signed In"), error.message, advice: localized("Try again."))
    case .network:
      self.init(localized("No Response From the Server"), error.message, advice: error.advice)
    case .serverError, .unhandledResponse:
      self.init(localized("The Server Has a Problem"), error.message, advice: error.advice)
    case .cancelled, .userCanceled:
      self.init(Self.cancelled, error.message)
    case .serverDeclinedScopes, .serverProtectionPoliciesRequired, .workplaceJoinRequired,
      .insufficientDeviceStrength, .interactionRequired, .accountNotFound, .accountRequired,
      .resetPasswordRequired, .invalidParameter, .redirectSchemeNotRegistered, .invalidRedirectURI,
      .invalidRequest, .invalidClient, .invalidGrant, .invalidScope, .unauthorizedClient, .unexpected,
      .unexpectedHTTPResponse, .authorityValidationFailed, .mismatchedUser, .ambiguousAccount,
      .authorizationFailed, .interactiveSessionAlreadyRunning, .noAuthenticator, .browserUnavailable,
      .listenerFailed, .invalidState, .invalidResponse, .nonHttpsRedirect, .noBroker,
      .brokerFailed, .cache:
      self.init(localized("The Request Failed"), error.message, advice: error.advice)
    }
  }
}

extension IdentityError.Code {
  /// Whether the account has to sign in.
  var needsSignIn: Bool {
    [.interactionRequired, .accountNotFound, .accountRequired, .resetPasswordRequired].contains(self)
  }
}
