import ArgumentParser
import EtcdStore
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient
import MSALExtensionsStore
import MicrosoftGraph
import Sealing
import SecretService
import TokenCache

/// An error that the tool can report: a command can throw it as it is.
protocol ToolError: Error {
  var asFailure: Failure { get }
}

/// An error as the person reads it.
struct Failure: ToolError {
  /// The exit codes that the help text documents.
  enum Code: Int32, Sendable {
    case error = 1
    case usage = 2
    case interactionRequired = 3
    case network = 4
    case cancelled = 5
  }

  let code: Code
  /// A stable name for programs.
  let name: String
  let message: String
  private(set) var advice: String?
  /// Whether a sign-in is required. The advice then ends with the command for that.
  let needsSignIn: Bool
  /// The claims that the sign-in has to ask for.
  let claims: ClaimsRequest?

  init(
    _ name: String, _ message: String, code: Code = .error, advice: String? = nil, needsSignIn: Bool = false,
    claims: String? = nil
  ) {
    (self.code, self.name, self.message) = (code, name, message)
    (self.advice, self.needsSignIn) = (advice, needsSignIn)
    // A sign-in refuses others.
    self.claims = claims.flatMap { try? ClaimsRequest(json: $0) }
  }

  var asFailure: Failure { self }

  /// The same with more advice, before its own.
  func adding(_ advice: String?) -> Failure {
    var failure = self
    failure.advice = sentences(advice, self.advice)
    return failure
  }

  /// The failure of another store than the command's own, with the options of that one in its advice: `--from-key`, not `--key`.
  func naming(_ side: String) -> Failure {
    var failure = self
    failure.advice = advice?.replacing(/--(key|collection|etcd-user|etcd-password)(?![a-z-])/) {
      "--\(side)-\($0.output.1)"
    }
    return failure
  }

  /// Prints what went wrong to standard error and ends the process. `command` is the one that failed, once it is known.
  static func exit(with error: any Error, of command: (any ParsableCommand)? = nil) -> Never {
    guard var failure = (error as? any ToolError)?.asFailure else { exit(withParserError: error) }
    if failure.needsSignIn {
      let advice =
        (command as? any SignsIn)?.signInAdvice(failure.claims) ?? "Sign in with \"llavero login\"."
      failure.advice = sentences(failure.advice, advice)
      if failure.isNotSignedIn, let program = (command as? Token)?.standIn {
        failure.advice = sentences(failure.advice, "For the Azure SDKs: \(program.notSignedIn)")
      }
    } else if command is Login, (error as? IdentityError)?.code == .browserUnavailable {
      failure.advice = sentences(failure.advice, "\"llavero login --no-browser\" shows its address.")
    } else if (error as? GraphError)?.code == .forbidden, (command as? any SignsIn)?.store.socket != nil {
      failure.advice = "Lend a token with the scope that this request needs."
    }
    exit(with: failure)
  }

  /// Whether standard error is for an error in JSON alone.
  static let wantsJSON = processOptions.contains("--json")

  /// A parser's message without the value that it quotes where that is an address, claims, or should say where a key or a
  /// password is: it may be the secret itself, or hold it.
  private static func withoutSecret(_ text: String) -> String {
    let quotation = /The value '.*' is invalid for ('--[a-z-]*(?:store|from|uri|key|password|claims)[^'\n]*')/
    return text.replacing(quotation.dotMatchesNewlines()) { match in "Invalid value for \(match.output.1)" }
  }

  /// Ends the process as the argument parser says: help and completion scripts come as errors, too.
  private static func exit(withParserError error: any Error) -> Never {
    let code = Llavero.exitCode(for: error)
    if code.isSuccess {
      let text = Llavero.fullMessage(for: error, columns: HelpText.unbroken)
      Terminal.out(Completion.script(HelpText.arranged(text)))
      Glibc.exit(code.rawValue)
    }
    let text = withoutSecret(Llavero.message(for: error)).replacing("': Invalid value: ", with: "': ")
    if code == .validationFailure {
      exit(with: HelpText.usageError(text, in: Array(processArguments.dropFirst())))
    }
    // A command that has reported its findings, such as doctor, throws an exit code alone.
    if text.isEmpty { Glibc.exit(code.rawValue) }
    exit(with: Failure("error", text))
  }

  static func exit(with failure: Failure) -> Never {
    if wantsJSON {
      let error: Members = ["code": failure.name, "message": failure.message, "advice": failure.advice]
      Terminal.error((try? json(["error": error])) ?? failure.message)
    } else {
      Terminal.error("llavero: " + printable(failure.message))
      if let advice = failure.advice { Terminal.error(printable(advice)) }
    }
    // What was cancelled, or took too long, may not have ended yet.
    PeerLock.removeAllFiles()
    Glibc.exit(failure.code.rawValue)
  }
}

extension Failure {
  /// A person said no.
  static func cancelled(_ message: String) -> Failure {
    Failure("cancelled", message, code: .cancelled)
  }

  static let setupAdvice =
    "On a machine without a keyring \"llavero setup --store file\" makes a store of encrypted files."

  static let accessSetting =
    "turn off ConfirmAccessItem (Settings, Secret Service Integration, Confirm when passwords are retrieved by clients)."

  static let encryptionAdvice =
    "Use another keyring, such as gnome-keyring. Where no other program can watch the bus, --allow-plain-session "
    + "sends secrets in plaintext."
}

extension CacheError: ToolError {
  var asFailure: Failure {
    let exitCode: Failure.Code =
      switch code {
      case .locked, .signedOut: .interactionRequired
      case .promptDismissed, .cancelled: .cancelled
      case .invalidGroup: .usage
      case _ where (underlyingError as? EtcdFailure)?.outageReason != nil: .network
      case .invalidResponse, .damaged, .newerVersion, .wrongKey, .rolledBack, .tooLarge, .unavailable,
        .timedOut, .refused:
        .error
      }
    return Failure(code.rawValue, message, code: exitCode, advice: toolAdvice)
  }

  /// A library's advice, with the tool's commands, which the library does not know.
  var toolAdvice: String? {
    let command: String?
    switch (code, underlyingError) {
    case (.locked, SecretServiceError.itemsLocked as SecretServiceError):
      return "Run the command again with --unlock to be asked, or let KeePassXC ask no more: "
        + Failure.accessSetting
    case (.locked, is SecretServiceError):
      return "Unlock it, or run the command again with --unlock to be asked."
    case (_, SecretServiceError.encryptionRefused as SecretServiceError):
      return Failure.encryptionAdvice
    case (_, SealError.otherKeySource(let kind) as SealError):
      return "Use that: \(KeyChoice.forms(of: kind))."
    case _ where advice?.contains(SecretPortal.otherKey) == true:
      return sentences(advice, "Keys: \(KeyChoice.forms).")
    case (_, SecretServiceError.noSessionBus as SecretServiceError):
      return sentences(Failure.setupAdvice, SecretServiceError.busAdvice())
    case (_, SecretServiceError.noSecretService as SecretServiceError):
      command = Failure.setupAdvice
    case (_, SecretServiceError.noSuchCollection("default") as SecretServiceError):
      return "Log in to the desktop once, or run the command again with --unlock: the keyring asks for a "
        + "password, and makes one. Without a desktop see \"llavero doctor\"."
    // Another program's cache.
    case (_, is CacheError): command = nil
    case (.wrongKey, is EtcdFailure):
      command = "--etcd-password says where the password comes from: \(KeyChoice.passwordForms)."
    case (.wrongKey, _): command = "--key says where the key comes from: \(KeyChoice.forms)."
    case (.tooLarge, _): command = "\"llavero clear --expired\" removes expired entries."
    default: command = remedy.command
    }
    let text = sentences(advice, command)
    return text.isEmpty ? nil : text
  }
}

extension IdentityError: ToolError {
  var asFailure: Failure {
    if let cacheError { return cacheError.asFailure }
    let exitCode: Failure.Code =
      switch code.category {
      case .actionRequired: .interactionRequired
      case .cancelled: .cancelled
      case .outage: .network
      case .invalidArgument: .usage
      case .other where isForeignPage || isLenderGone: .network
      case .other: code == .invalidRequest && asksForSeveralResources ? .usage : .error
      }
    return Failure(
      code.rawValue, fullMessage, code: exitCode, advice: toolAdvice,
      needsSignIn: code == .interactionRequired && canBeResolvedBySignIn, claims: claims)
  }

  /// The error of a renewal that was refused says no more than MSAL does, so that the server's reason is added.
  private var fullMessage: String {
    let reason = code == .interactionRequired ? oauthErrorDescription : nil
    var text = message
    if let reason, reason != message { text += ": \(reason)" }
    // What an administrator asks for first.
    if let subError, !text.contains(subError) { text += " (\(subError))" }
    return text
  }

  /// Whether what responded is not the server, but a proxy or a network's sign-in page.
  private var isForeignPage: Bool {
    code == .unexpectedHTTPResponse || code == .invalidResponse && httpStatus != nil
  }

  private var toolAdvice: String? {
    switch code {
    case _ where isForeignPage && advice == nil:
      "A proxy, or the sign-in page of this network, may have responded in the server's place."
    case .invalidRequest where asksForSeveralResources: "Ask for the scopes of each resource by themselves."
    case .serverDeclinedScopes:
      "Granted: \(grantedScopes.joined(separator: " ")). Declined: \(declinedScopes.joined(separator: " "))."
    // How to sign in with the tool is added.
    case .interactionRequired: ownAdvice
    default: advice
    }
  }
}

extension StoreProblem.Remedy {
  /// The command that applies it, in a sentence.
  var command: String? {
    switch self {
    case .none: nil
    case .removal: "\"llavero doctor --fix\" removes it."
    case .acceptance: "\"llavero doctor --fix\" accepts the current state."
    }
  }
}
