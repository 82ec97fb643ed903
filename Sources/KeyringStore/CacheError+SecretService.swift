import GLibSupport
package import SecretService
package import TokenCache

extension CacheError {
  /// What a failure of the Secret Service means for the cache.
  package init(_ error: SecretServiceError) {
    let code: Code =
      switch error {
      case .noSessionBus, .noSecretService, .noSuchCollection, .serviceGone: .unavailable
      case .collectionLocked, .promptRequired: .locked
      case .promptDismissed: .promptDismissed
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .itemTooLarge: .tooLarge
      case .encryptionRefused, .noSuchItem, .refused, .malformedAnswer: .refused
      }
    self.init(code, error.description, advice: error.advice, underlyingError: error)
  }

  init(lockFile error: SharedLockFileError) {
    self.init(
      .unavailable, "The lock file cannot be used: \(error.description)",
      advice: "See that XDG_RUNTIME_DIR names a directory of your own that is not full.",
      underlyingError: error)
  }
}
