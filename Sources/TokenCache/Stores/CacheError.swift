public import FoundationEssentials
import GLibSupport

/// Why a call to the cache failed.
public struct CacheError: LocalizedError, Sendable, CustomStringConvertible {
  /// The kinds of failure, for a program to act on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The name of a keychain group is not in reverse-DNS form.
    case invalidGroup = "invalid_group"
    /// A token response lacks what the cache needs to save it.
    case invalidResponse = "invalid_response"
    /// The account was signed out while its tokens were renewed; nothing was saved.
    case signedOut = "signed_out"
    /// The stored data cannot be read; they were not changed.
    case damaged = "damaged"
    /// The stored data were written by a later version; they were not changed.
    case newerVersion = "newer_version"
    /// The passphrase or key is not the one that the store was sealed with.
    case wrongKey = "wrong_key"
    /// An older version of the stored data was put back; it was not changed.
    case rolledBack = "rolled_back"
    /// The data exceed the store's limit.
    case tooLarge = "too_large"
    /// The store cannot be reached: no session bus, no Secret Service, no collection, or it ended.
    case unavailable = "unavailable"
    /// The store is locked and could not be unlocked.
    case locked = "locked"
    /// The user dismissed the prompt for a password.
    case promptDismissed = "prompt_dismissed"
    /// No response within the timeout.
    case timedOut = "timed_out"
    /// The task was cancelled. A write may have been carried out all the same.
    case cancelled = "cancelled"
    /// The store refused, or its response was invalid.
    case refused = "refused"
  }

  /// What a store does about the failure of a call before its caller learns of it.
  public enum Disposition: Sendable, Hashable {
    /// Begins again: what the store works with went away under it.
    case retry
    /// Unlocks, and begins again.
    case unlock
    /// Unseals its keys, or makes them where the store does not exist yet, and begins again.
    case unseal(makingStore: Bool)
    /// Loads again, and makes the change anew: another writer was faster.
    case conflict
    /// Succeeds: one of the commits of this call, counted from 0, was applied after all.
    case applied(Int)
    /// Fails.
    case fatal
  }

  public let code: Code
  /// What happened, in a sentence without personal data.
  public package(set) var message: String
  /// What to do about it, in a sentence.
  public package(set) var advice: String?
  /// The store's own error.
  public let underlyingError: (any Error)?
  /// What ``Removal/damaged`` does about the cause.
  public let remedy: StoreProblem.Remedy
  public package(set) var disposition: Disposition
  /// Whether a commit that failed so may have been applied all the same.
  public let leavesOutcomeOpen: Bool

  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: What happened, in a sentence without personal data.
  ///   - advice: What to do about it, in a sentence.
  ///   - underlyingError: The store's own error.
  ///   - remedy: What ``Removal/damaged`` does about the cause.
  ///   - disposition: What the store does about it.
  ///   - leavesOutcomeOpen: Whether a commit that failed so may have been applied all the same (default: if the call begins
  ///     again or was cancelled).
  public init(
    _ code: Code, _ message: String, advice: String? = nil, underlyingError: (any Error)? = nil,
    remedy: StoreProblem.Remedy = .none, disposition: Disposition = .fatal, leavesOutcomeOpen: Bool? = nil
  ) {
    self.code = code
    self.message = message
    self.advice = advice
    self.underlyingError = underlyingError
    self.remedy = remedy
    self.disposition = disposition
    self.leavesOutcomeOpen = leavesOutcomeOpen ?? (disposition == .retry || code == .cancelled)
  }

  public var description: String { sentences(message, advice) }
  public var errorDescription: String? { description }

  static func damaged(_ reason: String) -> CacheError {
    CacheError(.damaged, "The cache cannot be read: \(reason).")
  }
}
