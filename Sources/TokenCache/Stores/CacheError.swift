/// Why the cache could not do what was asked.
public struct CacheError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure, told apart so that a program can act on them.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The name of a keychain group is not in reverse-DNS form.
    case invalidGroup = "invalid_group"
    /// A token response lacks what the cache must know to file it.
    case invalidResponse = "invalid_response"
    /// The account was signed out while its tokens were renewed; nothing was saved.
    case signedOut = "signed_out"
    /// What is stored cannot be read; it was left as it is.
    case damaged = "damaged"
    /// What is stored was written by a later version; it was left as it is.
    case newerVersion = "newer_version"
    /// The passphrase or key is not the one that the store was sealed with.
    case wrongKey = "wrong_key"
    /// An older version of what was stored was put in its place; it was left as it is.
    case rolledBack = "rolled_back"
    /// More data than the store takes.
    case tooLarge = "too_large"
    /// The store cannot be reached: no session bus, no Secret Service, no collection, or it went away.
    case unavailable = "unavailable"
    /// The store is locked and could not be unlocked.
    case locked = "locked"
    /// The person dismissed the question for a password.
    case promptDismissed = "prompt_dismissed"
    /// No answer within the time allowed.
    case timedOut = "timed_out"
    /// The task was cancelled. What was under way may still have happened.
    case cancelled = "cancelled"
    /// The store refused, or answered in a way that makes no sense.
    case refused = "refused"
  }

  public let code: Code
  /// What happened, in a sentence without personal data.
  public let message: String
  /// What to do about it, in a sentence.
  public let advice: String?
  /// The store's own error.
  public let underlyingError: (any Error)?
  /// What ``Removal/damaged`` does about what is in the way.
  public let remedy: StoreProblem.Remedy

  public init(
    _ code: Code, _ message: String, advice: String? = nil, underlyingError: (any Error)? = nil,
    remedy: StoreProblem.Remedy = .none
  ) {
    self.code = code
    self.message = message
    self.advice = advice
    self.underlyingError = underlyingError
    self.remedy = remedy
  }

  public var description: String {
    advice.map { "\(message) \($0)" } ?? message
  }

  static func damaged(_ reason: String) -> CacheError {
    CacheError(.damaged, "The cache cannot be read: \(reason).")
  }

  static func invalidGroup(_ name: String) -> CacheError {
    CacheError(
      .invalidGroup, "\"\(name)\" is no keychain group.",
      advice: "A group is named in reverse-DNS form, such as com.example.shared.")
  }
}
